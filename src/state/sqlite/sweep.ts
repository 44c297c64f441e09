import type { Swept } from "../stores.ts";

/**
 * One step of a sweep inside a transaction of the writer: deletes at most `maxRows` rows.
 *
 * @param nowSecs what had outlived its use by then may go, unix seconds.
 */
export type SweepDecision = (nowSecs: number, maxRows: number) => Swept;
