import { Counter } from "prom-client";
import type { Metrics } from "../runtime/figures/metrics.ts";

/** Way in which a user signs in. */
export type SignInWay = "quick_auth" | "fetch_signers" | "relay" | "login";

/**
 * Counts a sign-in.
 *
 * @param reason reason of a refusal. Empty for a success.
 */
export type CountSignIn = (way: SignInWay, result: "ok" | "refused", reason: string) => void;

export function createSignInMetrics(metrics: Metrics): {
  readonly countSignIn: CountSignIn;
  readonly countRpcCall: (method: string) => void;
} {
  const { registry, prefix } = metrics;
  const signIns = new Counter({
    name: `${prefix}signin_total`,
    help: "Sign-ins by their way, their result and the reason of a refusal",
    labelNames: ["way", "result", "reason"],
    registers: [registry],
  });
  const calls = new Counter({
    name: `${prefix}rpc_calls_total`,
    help: "Calls of the registry RPC by method",
    labelNames: ["method"],
    registers: [registry],
  });
  return {
    countSignIn: (way, result, reason) => signIns.inc({ way, result, reason }),
    countRpcCall: (method) => calls.inc({ method }),
  };
}
