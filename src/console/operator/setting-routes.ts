import { Elysia } from "elysia";
import type { OperatorAction } from "../../audit/operator-entry.ts";
import type { rawBody } from "../../http/request/body.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { OperatorRpc } from "../console-rpc.ts";
import { readSetUp } from "../setup/set-up-request.ts";
import { type OperatorOp, readSettings } from "./operator-requests.ts";
import { unwrapOperator } from "./operator-sessions.ts";

interface Context {
  readonly request: Request;
}

/** The parts from which the routes of the operator's page are built. */
export interface OperatorRouteParts {
  readonly node: RpcClient<OperatorRpc>;
  readonly nodeId: string;
  readonly hidden: { readonly detail: { readonly hide: true } };
  readonly posted: object;
  /** Wraps a read, which must be signed by a session unless everyone may read. */
  read<T>(answer: (request: Request) => T | Promise<T>): (context: Context) => Promise<T>;
  /** Wraps a change, which must be signed by a session. */
  change<T>(
    op: OperatorOp,
    make: (request: Request, body: ReturnType<typeof rawBody>) => Promise<T>,
  ): (context: Context) => Promise<T>;
  /** @param outcome default: `ok` */
  record(request: Request, action: OperatorAction, id: string, outcome?: string): Promise<void>;
}

/** Serves the settings of the node, and the set-up of an empty one. */
export function settingRoutes({ node, nodeId, hidden, posted, read, change, record }: OperatorRouteParts) {
  return new Elysia()
    .get(
      "/config",
      read(() => node.settings()),
      hidden,
    )
    .post(
      "/setting",
      change("console.setting", async (request, body) => {
        const { values } = readSettings(body);
        unwrapOperator(await node.checkSettings(values));
        // Logged before the file is written: if the process is killed in between, the log has one change too many, never one too few.
        for (const key of Object.keys(values)) await record(request, "setting.change", key);
        const changed = await node.changeSettings(values);
        const { ok } = changed;
        for (const key of ok ? [] : Object.keys(values))
          await record(request, "setting.change", key, "failed");
        return unwrapOperator(changed);
      }),
      posted,
    )
    .post(
      "/restart",
      change("console.restart", async (request) => {
        await record(request, "node.restart", nodeId);
        unwrapOperator(await node.restartNode());
        return { started: true };
      }),
      posted,
    )
    .get(
      "/setup",
      read(() => node.setUpState()),
      hidden,
    )
    .post(
      "/setup",
      change("console.setup", async (request, body) => {
        const { step, ...wish } = readSetUp(body);
        const isApplied = step === "apply";
        // Logged before the step for the same reason.
        if (isApplied) await record(request, "setup.apply", nodeId);
        const started = await node.startSetUp(step, wish);
        if (isApplied && !started.ok) await record(request, "setup.apply", nodeId, "failed");
        unwrapOperator(started);
        return { started: true };
      }),
      posted,
    );
}
