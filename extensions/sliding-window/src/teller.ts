import type { Ui } from "@pi-agent/kernel";

const KEY = "sliding-window";

/** Tells how much is left out: in the status when that changes, in words when it begins. */
export class Teller {
  private dropped = 0;

  tell(ui: Ui, dropped: number): void {
    const before = this.dropped;
    if (dropped === before) return;
    this.dropped = dropped;
    ui.setStatus(KEY, dropped > 0 ? `${count(dropped)} left out` : undefined);
    if (before === 0)
      ui.notify(`The model is sent the last part only from now on: ${count(dropped)} left out. The session keeps all.`);
  }
}

function count(dropped: number): string {
  return dropped === 1 ? "1 earlier message is" : `${dropped} earlier messages are`;
}
