/** A line that has to change, or that the owner should know of. */
export interface Change {
  readonly what: string;
  readonly todo: string;
  readonly at: number;
}

/** Stands for the URL of the node. */
export const NODE = "<node>";

/** Finds places that a repository has to change. */
export interface Rule {
  readonly pattern: RegExp;
  /** Undefined if this place needs nothing. */
  readonly change: (found: RegExpMatchArray) => Omit<Change, "at"> | undefined;
}
