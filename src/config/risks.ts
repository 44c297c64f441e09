import { isLoopbackHost } from "./formats.ts";
import { defaultConfigText } from "./load.ts";
import type { Config } from "./schema.ts";

/** Settings that are valid, and that an operator should think about. */
export interface Risk {
  readonly key: string;
  readonly message: string;
}

/** What a node tells at its start of the settings that it runs with. */
export function findRisks({ http, service }: Config): readonly Risk[] {
  const defaults = Bun.TOML.parse(defaultConfigText()) as { service: Config["service"] };
  const isPublic = !isLoopbackHost(http.host);
  if (!isPublic || service.name !== defaults.service.name) return [];
  return [
    {
      key: "service.name",
      message:
        "Listens beyond this machine under the default service.name: signed requests name no host, so one made for " +
        "another node of this name passes here too within auth.signed_at_window_secs. Give this node a name of its own",
    },
  ];
}
