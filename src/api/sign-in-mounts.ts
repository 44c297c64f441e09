import type { HttpServerOptions } from "../http/server.ts";
import type { QuickAuth } from "../sign-in/quick-auth.ts";
import type { RegistryRpc } from "../sign-in/registry/registry-rpc.ts";
import type { Channels } from "../sign-in/relay/channels.ts";
import { pluginOf } from "./op.ts";
import { quickAuthOperations } from "./operations/sign-in/quick-auth.ts";
import { registryRpcOperations } from "./operations/sign-in/registry-rpc.ts";
import { relayOperations } from "./operations/sign-in/relay.ts";

/** Returns the sign-in routes outside of the API, by path. An undefined part is not served. */
export function signInMounts({
  quickAuth,
  registryRpc,
  channels,
}: {
  readonly quickAuth: QuickAuth | undefined;
  readonly registryRpc: RegistryRpc | undefined;
  readonly channels: Channels | undefined;
}): NonNullable<HttpServerOptions["mounts"]> {
  return [
    ...(quickAuth
      ? [{ path: "/quick-auth", plugin: pluginOf("quickAuth", quickAuthOperations, { quickAuth }) }]
      : []),
    ...(channels ? [{ path: "/v1", plugin: pluginOf("relay", relayOperations, { channels }) }] : []),
    ...(registryRpc
      ? [{ path: "/rpc", plugin: pluginOf("rpc", registryRpcOperations, { registryRpc }) }]
      : []),
  ];
}
