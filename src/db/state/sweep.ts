import type { Swept } from "./stores.ts";

/** One step of a sweep inside a transaction of the writer: deletes at most `maxRows` rows. */
export type SweepStep = (maxRows: number) => Swept;
