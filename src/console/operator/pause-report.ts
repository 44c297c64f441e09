import type { Pause } from "../../cluster/switch-store.ts";
import type { PauseReport } from "./reports.ts";

export function pauseReport({ name, reason, pausedBy, pausedAt }: Pause): PauseReport {
  return { name, reason, paused_by: pausedBy, paused_at: pausedAt };
}
