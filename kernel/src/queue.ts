/** What waits to enter the conversation (K10): steering at a turn's end, follow-ups when the run would end. */
import type { Queue } from "./contract.ts";
import type { Message } from "./messages.ts";

export type QueueMode = "one-at-a-time" | "all";

export class MessageQueue {
  private steering: Message[] = [];
  private followUp: Message[] = [];
  private nextTurn: Message[] = [];
  /** What waits was left by a run that ended badly: whether it goes on is for the person to say. */
  private isHeld = false;
  private readonly modes: { steeringMode?: QueueMode; followUpMode?: QueueMode };
  private readonly changed: () => void;

  constructor(modes: { steeringMode?: QueueMode; followUpMode?: QueueMode }, changed: () => void) {
    this.modes = modes;
    this.changed = changed;
  }

  /** Whether something waits that may start a run. */
  get isDue(): boolean {
    return !this.isEmpty && !this.isHeld;
  }

  get isEmpty(): boolean {
    return this.steering.length === 0 && this.followUp.length === 0;
  }

  /** Keeps what waits from starting a run, until something more is added or somebody prompts. */
  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
  }

  add(kind: "steer" | "followUp" | "nextTurn", message: Message): void {
    if (kind === "nextTurn") this.nextTurn.push(message);
    else {
      this.isHeld = false;
      (kind === "steer" ? this.steering : this.followUp).push(message);
      this.changed();
    }
  }

  /** The steering messages due now. */
  takeSteering(): Message[] {
    return this.take(this.steering, this.modes.steeringMode);
  }

  takeFollowUp(): Message[] {
    return this.take(this.followUp, this.modes.followUpMode);
  }

  /** What waits for the next prompt, whoever sends it. */
  takeNextTurn(): Message[] {
    return this.nextTurn.splice(0);
  }

  peek(): Queue {
    return { steering: [...this.steering], followUp: [...this.followUp] };
  }

  clear(): Queue {
    const queue = { steering: this.steering, followUp: this.followUp };
    this.steering = [];
    this.followUp = [];
    if (queue.steering.length > 0 || queue.followUp.length > 0) this.changed();
    return queue;
  }

  private take(list: Message[], mode: QueueMode = "one-at-a-time"): Message[] {
    if (list.length === 0) return list.slice();
    const taken = list.splice(0, mode === "all" ? list.length : 1);
    this.changed();
    return taken;
  }
}
