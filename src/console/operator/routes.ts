import type { AuditStore } from "../../audit/audit-store.ts";
import { type OperatorAction, type OperatorOrigin, operatorEntry } from "../../audit/operator-entry.ts";
import { createSessionHeadersReader } from "../../auth/signed-headers.ts";
import type { Thresholds } from "../../checks/check.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import type { OwnerFindings } from "../../checks/owners/owner-findings.ts";
import { operatorReport } from "../../checks/report.ts";
import type { SwitchStore } from "../../cluster/switch-store.ts";
import type { ServiceNames } from "../../config/names.ts";
import { ApiError } from "../../http/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { captureBody, rawBody } from "../../http/request/body.ts";
import type { OwnOrigin } from "../../http/request/own-origin.ts";
import { decodeQuery } from "../../http/request/params.ts";
import { parseQueryString } from "../../http/request/query-string.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { NO_TOKEN_KEY } from "../../sign-in/quick-auth.ts";
import type { OperatorRpc } from "../console-rpc.ts";
import type { HistoryReads } from "../history/history-reads.ts";
import {
  figuresRequestOf,
  isLogSearch,
  lanesQueryOf,
  readRequests,
  searchLog,
} from "../history/operator-queries.ts";
import type { HistoryQueries } from "../history/queries.ts";
import type { PauseReport } from "../pulse/pulse.ts";
import { createCachedSeries, seriesQuery, stepOf } from "../pulse/series-page.ts";
import { privateRoutes } from "../routes.ts";
import { changeBackups, changeIncident, changeNotices, downloadOf } from "./operator-changes.ts";
import {
  logQuery,
  type OperatorOp,
  readBackup,
  readIncident,
  readNotice,
  readPause,
  readResume,
  readRotation,
  readSession,
  sinceQuery,
  tokenOf,
} from "./operator-requests.ts";
import { type OperatorSessions, unwrapOperator } from "./operator-sessions.ts";
import { pauseReport } from "./present.ts";
import { settingRoutes } from "./setting-routes.ts";

export interface OperatorRoutesDeps {
  readonly node: RpcClient<OperatorRpc & HistoryQueries>;
  readonly switches: SwitchStore;
  readonly incidents: IncidentStore;
  readonly findings: Pick<OwnerFindings, "webhook">;
  readonly audit: Pick<AuditStore, "append">;
  /** The history as the operator may see it. */
  readonly history: HistoryReads;
  readonly thresholds: Thresholds;
  readonly own: OwnOrigin;
  readonly names: ServiceNames;
  readonly nodeId: string;
  /** Whether everyone may read, as on a demo network, which has nothing to hide. */
  readonly isOpen: boolean;
  readonly clock: Clock;
  /** Rotates the token keys; undefined if there are none. */
  readonly rotateTokenKey: ((isNow: boolean, by: OperatorOrigin) => Promise<RotatedTokenKey>) | undefined;
}

/** The newest token key. */
export interface RotatedTokenKey {
  readonly kid: string;
  /** Unix seconds. */
  readonly signsAt: number;
}

const hidden = { detail: { hide: true } } as const;
const posted = { ...hidden, parse: captureBody } as const;

/**
 * Serves the requests of the operator's page. Each request is signed by a session that a code of `svc console` has opened. Being on the
 * same machine proves nothing, because behind a proxy every visitor is.
 */
export function operatorRoutes(deps: OperatorRoutesDeps) {
  const { node, switches, incidents, findings, audit, history, thresholds } = deps;
  const { own, names, nodeId, isOpen, clock, rotateTokenKey } = deps;
  const { admit, hasSession } = createAdmit(node, names);
  const series = createCachedSeries((step, since) => node.series(step, since), clock);
  const clientOf = (request: Request) => exchangeOf(request).client().bucket;
  const read =
    <T>(answer: (request: Request) => T | Promise<T>) =>
    async ({ request }: { readonly request: Request }) => {
      if (!isOpen || hasSession(request)) await admit(request, "console.read");
      return answer(request);
    };

  const change =
    <T>(op: OperatorOp, make: (request: Request, body: ReturnType<typeof rawBody>) => Promise<T>) =>
    async ({ request }: { readonly request: Request }) => {
      await admit(request, op);
      return make(request, rawBody(request));
    };

  async function record(request: Request, action: OperatorAction, id: string, outcome = "ok"): Promise<void> {
    const { requestId } = exchangeOf(request);
    const entry = { action, id, requestId, atMs: clock.nowMs(), address: clientOf(request) };
    await audit.append([{ ...operatorEntry(entry), outcome }]);
  }

  /** As stored; the threads comply within a second or two. */
  const pausesNow = async (): Promise<{ readonly switches: readonly PauseReport[] }> => ({
    switches: (await switches.list()).map(pauseReport),
  });

  const parts = { node, nodeId, hidden, posted, read, change, record };
  return privateRoutes("/console/op", own)
    .use(settingRoutes(parts))
    .post(
      "/code",
      async ({ request }) => ({
        ...unwrapOperator(await node.issueCode(tokenOf(request), clientOf(request))),
        set_up: !(await node.setUpState()).is_open,
      }),
      posted,
    )
    .post(
      "/quick-auth/rotate",
      async ({ request }) => {
        unwrapOperator(await node.checkToken(tokenOf(request), clientOf(request)));
        const { now } = readRotation(rawBody(request));
        if (!rotateTokenKey) throw new ApiError("notImplemented", NO_TOKEN_KEY);
        const { requestId } = exchangeOf(request);
        const { kid, signsAt } = await rotateTokenKey(now, { requestId, address: clientOf(request) });
        return { kid, signs_at: signsAt };
      },
      posted,
    )
    .post(
      "/session",
      async ({ request }) => {
        const { code, public_key: publicKey } = readSession(rawBody(request));
        const key = Uint8Array.from(Buffer.from(publicKey.slice(2), "hex"));
        return { session: unwrapOperator(await node.open(code, key, clientOf(request))) };
      },
      posted,
    )
    .delete(
      "/session",
      async ({ request }) => {
        const { sessionId } = await admit(request, "console.end");
        await node.end(sessionId);
        return { ended: true };
      },
      posted,
    )
    .get(
      "/series",
      read(async (request) => {
        const query = decodeQuery(seriesQuery.params, parseQueryString(request.url));
        return series(stepOf(query), query.since);
      }),
      hidden,
    )
    .get(
      "/workers",
      read(() => node.threads()),
      hidden,
    )
    .get(
      "/log",
      read(async (request) => {
        const query = parseQueryString(request.url);
        if (isLogSearch(query)) return searchLog(node, query);
        const { after } = decodeQuery(logQuery, query);
        return { lines: await node.log(after) };
      }),
      hidden,
    )
    .get(
      "/requests",
      read((request) => readRequests(node, parseQueryString(request.url))),
      hidden,
    )
    .get(
      "/history/figures",
      read(async (request) => (await history.figures(figuresRequestOf(parseQueryString(request.url)))).page),
      hidden,
    )
    .get(
      "/history/lanes",
      read((request) => history.lanes(lanesQueryOf(parseQueryString(request.url)))),
      hidden,
    )
    .get(
      "/history/since",
      read((request) => history.since(decodeQuery(sinceQuery, parseQueryString(request.url)).at)),
      hidden,
    )
    .get(
      "/backups",
      read(() => node.backups()),
      hidden,
    )
    .post(
      "/backup",
      change("console.backup", async (request, body) => {
        const wanted = readBackup(body);
        const changed = await changeBackups(node, wanted);
        if ("file" in wanted) await record(request, `backup.${wanted.action}`, wanted.file);
        return changed;
      }),
      posted,
    )
    .get(
      "/backup/:ticket",
      async ({ params }) => downloadOf(unwrapOperator(await node.takeBackup(params.ticket)), node),
      hidden,
    )
    .get(
      "/incidents",
      read(async () => {
        const watchedSince = await history.watchedSince();
        return operatorReport(incidents, { nowSecs: nowSecs(clock), watchedSince, thresholds, findings });
      }),
      hidden,
    )
    .post(
      "/incident",
      change("console.incident", async (request, body) => {
        const wanted = readIncident(body);
        if (!(await changeIncident({ incidents, nodeId, clock }, wanted)))
          throw new ApiError("notFound", "there is no such incident");
        await record(request, `incident.${wanted.action}`, wanted.id);
        return { changed: true };
      }),
      posted,
    )
    .get(
      "/notices",
      // Requires a session even on a demo network, because labels and hosts belong to its operator.
      change("console.read", () => node.noticeChannels()),
      hidden,
    )
    .post(
      "/notice",
      change("console.notice", async (request, body) => {
        const wanted = readNotice(body);
        const changed = await changeNotices(node, wanted);
        const { id } = changed;
        if (wanted.action !== "key" && id !== undefined) await record(request, `notice.${wanted.action}`, id);
        return changed;
      }),
      posted,
    )
    .post(
      "/pause",
      change("console.pause", async (_request, body) => {
        const { what, reason } = readPause(body);
        await switches.pause([what], {
          reason,
          pausedBy: `the console of ${nodeId}`,
          pausedAt: nowSecs(clock),
        });
        return pausesNow();
      }),
      posted,
    )
    .post(
      "/resume",
      change("console.resume", async (_request, body) => {
        const { what } = readResume(body);
        await switches.resume([what]);
        return pausesNow();
      }),
      posted,
    );
}

/** Creates the check of requests that a session of the operator has signed. */
function createAdmit(node: RpcClient<Pick<OperatorSessions, "admit">>, names: ServiceNames) {
  const readHeaders = createSessionHeadersReader(names);
  const hasSession = (request: Request) => request.headers.has(`${names.headerPrefix}Session`);
  return {
    hasSession,
    /** @throws ApiError for a request that no session has signed for this operation */
    async admit(request: Request, op: OperatorOp): Promise<{ readonly sessionId: string }> {
      if (!hasSession(request)) {
        const reason = `locked: \`${names.segment} console\` prints the link that opens this`;
        throw new ApiError("unauthorized", reason, { code: "operator_locked" });
      }
      const { fid, signature, ...headers } = readHeaders(request.headers);
      const { pathname, search } = new URL(request.url);
      const path = `${pathname}${search}`;
      const signed = { service: names.segment, method: request.method, path, body: rawBody(request) };
      const message = { ...headers, ...signed };
      const isOnce = op !== "console.read";
      unwrapOperator(await node.admit({ message, fid, signature, op, isOnce }));
      return headers;
    },
  };
}
