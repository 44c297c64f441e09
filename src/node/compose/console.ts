import type { AnyElysia } from "elysia";
import type { AuditStore } from "../../audit/audit-store.ts";
import type { IncidentStore } from "../../checks/incident-store.ts";
import type { SwitchStore } from "../../cluster/switch-store.ts";
import { basePathOf, serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { type ApproveDeps, approveRoutes } from "../../console/approve-routes.ts";
import { createWebAssets } from "../../console/assets.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import { type DemoRoutesDeps, demoRoutes } from "../../console/demo/routes.ts";
import { createHistoryReads, type HistoryReads } from "../../console/history/history-reads.ts";
import { incidentRoutes } from "../../console/incidents/routes.ts";
import { operationRoutes } from "../../console/operation-route.ts";
import { type OperatorRoutesDeps, operatorRoutes } from "../../console/operator/routes.ts";
import { pulseRoutes } from "../../console/pulse/routes.ts";
import { consoleRoutes, pageSettingsOf } from "../../console/routes.ts";
import { type LoginPageDeps, loginRoutes } from "../../console/sign-in/login-routes.ts";
import { type SignInPageDeps, signInRoutes } from "../../console/sign-in/routes.ts";
import type { WebBuild } from "../../console/web-build.ts";
import type { OpenApiDocument } from "../../http/openapi/document.ts";
import { createOwnOrigin } from "../../http/request/own-origin.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { Clock } from "../../runtime/clock.ts";

/** The console of one HTTP worker. */
export interface ConsoleDeps {
  readonly config: Parameters<typeof pageSettingsOf>[0] & Pick<Config, "checks">;
  /** The OpenAPI document of this worker. */
  readonly document: () => Promise<OpenApiDocument>;
  /** Loads the files of the console. The first HTTP worker bundles the sources for all of them; in the executable they are included. */
  readonly loadBuild: () => Promise<WebBuild>;
  readonly approve: Omit<ApproveDeps, "assets" | "own">;
  /** Whether the node can seal users' keys. */
  readonly hasMasterKey: boolean;
  /** Undefined without a demo network. */
  readonly demo: Pick<DemoRoutesDeps, "services" | "callNode" | "stopping"> | undefined;
  /** Connects to the main thread; undefined while the console is off. */
  readonly node: RpcClient<ConsoleRpc> | undefined;
  readonly nodeId: string;
  readonly switches: SwitchStore;
  readonly incidents: IncidentStore;
  readonly findings: OperatorRoutesDeps["findings"];
  readonly audit: Pick<AuditStore, "append">;
  /** Undefined while web sign-in is off. */
  readonly signInPage: Omit<SignInPageDeps, "assets" | "own"> | undefined;
  readonly login: Pick<LoginPageDeps, "logins" | "userOf">;
  readonly rotateTokenKey: OperatorRoutesDeps["rotateTokenKey"];
  readonly clock: Clock;
}

/** Returns the public part of the history; undefined while the console is off. */
export function createPublicHistory({
  config,
  node,
  ...rest
}: Pick<ConsoleDeps, "node" | "incidents" | "nodeId" | "clock"> & {
  readonly config: Pick<ConsoleDeps["config"], "console" | "checks">;
}): HistoryReads | undefined {
  const { enabled, status } = config.console;
  if (!enabled || !node) return undefined;
  return createHistoryReads(
    { ...rest, node, showsIncidents: status === "public", thresholds: config.checks },
    "anybody",
  );
}

/** Returns the routes of the pages and of the calls that they make. */
export function createConsole(deps: ConsoleDeps): readonly AnyElysia[] {
  const { config, loadBuild, approve, hasMasterKey, demo, node, nodeId, rotateTokenKey, clock } = deps;
  const { switches, incidents, findings, audit } = deps;
  const assets = createWebAssets(
    loadBuild,
    pageSettingsOf(config, { isDemo: demo !== undefined, hasMasterKey }),
  );
  const { enabled, operator, status } = config.console;
  const own = createOwnOrigin({ publicUrl: config.service.public_url, listenHost: config.http.host });
  // Users approve apps even on a node without a console.
  const pages: AnyElysia[] = [
    approveRoutes({ ...approve, assets, own }),
    ...(deps.signInPage
      ? [
          signInRoutes({ ...deps.signInPage, assets, own }),
          loginRoutes({ ...deps.signInPage, ...deps.login, assets, own, serviceName: config.service.name }),
        ]
      : []),
    consoleRoutes({
      assets,
      enabled,
      get images() {
        return config.console.images;
      },
    }),
  ];
  if (!enabled || !node) return pages;
  const names = serviceNames(config.service.name);
  const isOpen = demo !== undefined;
  const history = createHistoryReads(
    { node, incidents, showsIncidents: status === "public", thresholds: config.checks, nodeId, clock },
    "operator",
  );
  return [
    ...pages,
    pulseRoutes({ node, own, clock }),
    operationRoutes({
      own,
      document: deps.document,
      compatPaths: config.service.compat_prefixes.map(basePathOf),
    }),
    incidentRoutes({
      incidents,
      isPublic: status === "public",
      watchedSince: history.watchedSince,
      service: names.segment,
      publicUrl: config.service.public_url,
      thresholds: config.checks,
      clock,
    }),
    ...(operator
      ? [
          operatorRoutes({
            node,
            switches,
            incidents,
            findings,
            audit,
            history,
            thresholds: config.checks,
            own,
            names,
            nodeId,
            isOpen,
            clock,
            rotateTokenKey,
          }),
        ]
      : []),
    ...(demo ? [demoRoutes({ ...demo, own, names, clock })] : []),
  ];
}
