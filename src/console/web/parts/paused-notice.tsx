import type { PauseReport } from "../../operator/reports.ts";
import type { Call } from "../data/call.ts";
import { formatExact } from "../data/format.ts";
import type { Pulse } from "../data/pulse.ts";
import { useQuery } from "../data/query.ts";

const PULSE: Call = { method: "GET", path: "/console/api/pulse" };
const EVERY_MS = 15_000;

const WORDS: Readonly<Record<string, string>> = {
  signed: "signed operations: changes are refused",
  tokens: "token events: clients repeat them later",
  sends: "notifications: they are accepted and wait",
  deliveries: "deliveries to webhooks: they are queued and wait",
  writes: "writes: new ones are refused, queued ones wait",
};

/** Says what the operator has paused, and why. */
export function PausedNotices({ paused }: { paused: readonly PauseReport[] }) {
  return (
    <>
      {paused.map(({ name, reason, paused_at: at }) => (
        <p class="notice boxed" key={name}>
          <span>
            <b>The operator has paused {WORDS[name] ?? name}</b>, since {formatExact(at * 1000)}, because:{" "}
            <bdi>{reason}</bdi>
          </span>
        </p>
      ))}
    </>
  );
}

const usePaused = () => useQuery<Pulse>(PULSE, { everyMs: EVERY_MS }).data?.paused;

/** Whether the operator has paused something, as `sends` or `deliveries`. */
export const useIsPaused = (name: string): boolean =>
  usePaused()?.some((pause) => pause.name === name) ?? false;

/** The same for a page that does not show the state of the node. */
export function PausedNotice() {
  return <PausedNotices paused={usePaused() ?? []} />;
}
