import type { AppStore } from "../../apps/app-store.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { OpenStore } from "../store/open-store.ts";
import { zoneNamed } from "./timing.ts";

/** An app's report of an open. Everything except the token may be made up. */
export interface OpenReport {
  readonly appId: string;
  /** The value of the link's parameter. */
  readonly open: string;
  readonly fid: number;
  readonly clientFid: number;
  readonly zone: string | undefined;
  readonly goal: string | undefined;
  /** A Quick Auth token for the app's domain. */
  readonly token: string | undefined;
}

/** Receives reports of apps that someone has opened a notification. */
export interface OpenService {
  /** Counts the report if the link is of the app and the fid has a token for it. Does not reveal whether it did. */
  report(report: OpenReport): Promise<void>;
}

export function createOpenService(deps: {
  readonly apps: Pick<AppStore, "find">;
  readonly opens: Pick<OpenStore, "add" | "setZone">;
  readonly openerOf: (token: string, domain: string) => Promise<number | undefined>;
  readonly clock: Clock;
}): OpenService {
  const { apps, opens, openerOf, clock } = deps;
  return {
    async report({ appId, open, fid, clientFid, zone, goal = null, token }) {
      const now = nowSecs(clock);
      const app = await apps.find(appId, now);
      if (!app) return;
      const opener = token === undefined ? undefined : await openerOf(token, new URL(app.appUrl).hostname);
      await opens.add({ appId, token: open, fid, clientFid, isVerified: opener === fid, goal, nowSecs: now });
      const known = zone === undefined ? undefined : zoneNamed(zone);
      if (known !== undefined) await opens.setZone({ appId, fid, zone: known, nowSecs: now });
    },
  };
}
