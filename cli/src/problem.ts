/** What went wrong, in the three parts that a person needs. */
export interface Problem {
  what: string;
  why?: string;
  /** What to do about it. */
  hint?: string;
}
