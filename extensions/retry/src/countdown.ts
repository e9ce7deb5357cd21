import type { Ui } from "@pi-agent/kernel";

const KEY = "retry";

export interface RetryWait {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
}

/** Shows each second how long it is until the next try. */
export class Countdown {
  private ui: Ui | undefined;
  private ticker: ReturnType<typeof setInterval> | undefined;

  start(ui: Ui, { attempt, maxAttempts, delayMs }: RetryWait): void {
    this.stop();
    if (delayMs === 0) return;
    this.ui = ui;
    const endsAt = Date.now() + delayMs;
    const show = () => {
      const seconds = Math.ceil((endsAt - Date.now()) / 1_000);
      if (seconds > 0) ui.setStatus(KEY, `Retry ${attempt} of ${maxAttempts} in ${seconds} s`);
      else this.stop();
    };
    this.ticker = setInterval(show, 1_000);
    show();
  }

  stop(): void {
    clearInterval(this.ticker);
    this.ui?.setStatus(KEY, undefined);
    this.ui = undefined;
  }
}
