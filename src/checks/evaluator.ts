import { type Check, isBeyond, linesOf, type Measured, type Thresholds } from "./check.ts";
import type { CheckFigures } from "./figures.ts";

/** Samples further apart than this have a gap between them, in which values are unknown: three evaluations. */
const MAX_GAP_SECS = 45;
/**
 * A check without a value for this long no longer measures anything, because its part is off, or is the subject of another
 * check.
 */
const FORGET_SECS = 3600;

/** State of a check. `pending`: beyond its line, but not for long enough yet. */
export type Standing = "ok" | "pending" | "open";

/** A check after an evaluation. */
export interface CheckState {
  readonly check: Check;
  readonly standing: Standing;
  /** The last value; undefined before the first. */
  readonly measured: Measured | undefined;
  /** When it opened, in Unix seconds; undefined while it is not open. */
  readonly openedSecs: number | undefined;
}

interface Memory {
  standing: Standing;
  openedSecs: number | undefined;
  measured: Measured | undefined;
  /** When the last value was measured. */
  lastSecs: number;
  /**
   * Since when values without a gap have been beyond the line that would change the standing; undefined while they are not.
   */
  sinceSecs: number | undefined;
}

/**
 * Decides which checks are open, from successive evaluations.
 *
 * @param checks rows that a node can measure.
 * @param thresholds may change between evaluations.
 * @param isOff reports whether a check is not evaluated and therefore resolved. Default: none is.
 */
export function createEvaluator(
  checks: readonly Check[],
  thresholds: Thresholds,
  isOff: (check: Check) => boolean = () => false,
) {
  const memories = new Map<string, Memory>(
    checks.map(({ id }) => [
      id,
      {
        standing: "ok",
        openedSecs: undefined,
        measured: undefined,
        lastSecs: Number.NEGATIVE_INFINITY,
        sinceSecs: undefined,
      },
    ]),
  );

  function step(check: Check, memory: Memory, figures: CheckFigures): void {
    const { opens, resolves } = linesOf(check, thresholds);
    const { nowSecs } = figures;
    const read = check.value?.(figures, thresholds);
    if (read === undefined) {
      if (memory.standing === "open" && nowSecs - memory.lastSecs > FORGET_SECS) settle(memory);
      return;
    }
    const measured = typeof read === "number" ? { value: read } : read;
    const hasGap = nowSecs - memory.lastSecs > MAX_GAP_SECS || nowSecs < memory.lastSecs;
    memory.lastSecs = nowSecs;
    memory.measured = measured;
    const isOpen = memory.standing === "open";
    if (!isBeyond(measured.value, isOpen ? resolves : opens)) {
      memory.sinceSecs = undefined;
      if (!isOpen) memory.standing = "ok";
      return;
    }
    if (memory.sinceSecs === undefined || hasGap) memory.sinceSecs = nowSecs;
    const heldSecs = nowSecs - memory.sinceSecs;
    if (isOpen) {
      if (heldSecs >= check.resolveForSecs) settle(memory);
    } else if (heldSecs >= check.openForSecs) open(memory, nowSecs);
    else memory.standing = "pending";
  }

  return {
    evaluate(figures: CheckFigures): readonly CheckState[] {
      return checks.map((check) => {
        const memory = memories.get(check.id) as Memory;
        if (isOff(check)) settle(memory);
        else step(check, memory, figures);
        const { standing, measured, openedSecs } = memory;
        return { check, standing, measured, openedSecs };
      });
    },
    /** Takes over a check as open, from an incident that was opened before this process started. */
    takeOver(id: string, nowSecs: number): void {
      const memory = memories.get(id);
      if (!memory) return;
      open(memory, nowSecs);
      memory.lastSecs = nowSecs;
    },
    /** Takes over from another node that a check is not open. */
    settle(id: string): void {
      const memory = memories.get(id);
      if (memory) settle(memory);
    },
  };
}

function open(memory: Memory, nowSecs: number): void {
  memory.standing = "open";
  memory.openedSecs = nowSecs;
  memory.sinceSecs = undefined;
}

function settle(memory: Memory): void {
  memory.standing = "ok";
  memory.openedSecs = undefined;
  memory.sinceSecs = undefined;
}
