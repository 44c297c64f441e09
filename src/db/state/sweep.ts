/** The result of one step of a sweep. */
export interface Swept {
  readonly deleted: number;
  /** Whether there may be more rows to delete now. */
  readonly more: boolean;
}

/** Deletes one kind of expired or orphaned row. */
export interface Sweep {
  /** Its name in metrics and in the status. */
  readonly name: string;
  /** Deletes at most `maxRows` rows in one short transaction, by the state's clock. */
  step(maxRows: number): Promise<Swept>;
}

/** One step of a sweep inside a transaction of the writer: deletes at most `maxRows` rows. */
export type SweepStep = (maxRows: number) => Swept;
