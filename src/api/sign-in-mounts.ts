import type { HttpServerOptions } from "../http/server.ts";
import type { QuickAuth } from "../sign-in/quick-auth.ts";
import type { RegistryRpc } from "../sign-in/registry-rpc.ts";
import { pluginOf } from "./op.ts";
import { quickAuthOperations } from "./operations/sign-in/quick-auth.ts";
import { registryRpcOperations } from "./operations/sign-in/registry-rpc.ts";

/** Returns the routes of sign-in outside of the API, by their paths. A part that is undefined is not served. */
export function signInMounts({
  quickAuth,
  registryRpc,
}: {
  readonly quickAuth: QuickAuth | undefined;
  readonly registryRpc: RegistryRpc | undefined;
}): NonNullable<HttpServerOptions["mounts"]> {
  return [
    ...(quickAuth
      ? [{ path: "/quick-auth", plugin: pluginOf("quickAuth", quickAuthOperations, { quickAuth }) }]
      : []),
    ...(registryRpc
      ? [{ path: "/rpc", plugin: pluginOf("rpc", registryRpcOperations, { registryRpc }) }]
      : []),
  ];
}
