import { percentOf, progressLine } from "../../runtime/progress-line.ts";
import type { SnapshotPart } from "./manifest.ts";

/** How far a database of a snapshot has come in one step. */
export interface SnapshotProgress {
  readonly part: SnapshotPart;
  readonly step: "copy" | "compress" | "extract" | "check";
  /** 0 to 1. */
  readonly share: number;
}

/** A bar, the step and its share, as much of it as fits into `columns` columns. */
export function formatSnapshotProgress({ part, step, share }: SnapshotProgress, columns: number): string {
  const percent = percentOf(share);
  return progressLine(share, [`${part}: ${step} ${percent}`, percent], columns);
}
