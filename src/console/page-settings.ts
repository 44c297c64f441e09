import { serviceNames } from "../config/names.ts";
import type { Config } from "../config/schema.ts";
import { version } from "../version.ts";
import type { PageSettings } from "./web/page-settings.ts";

/** Returns what the page has to know of the node. None of it is secret. */
export function pageSettingsOf(
  config: Pick<Config, "service" | "console" | "auth" | "http" | "stream" | "signers">,
  { isDemo, hasMasterKey }: { readonly isDemo: boolean; readonly hasMasterKey: boolean },
): PageSettings {
  const { segment, headerPrefix, domainName } = serviceNames(config.service.name);
  const { images, manage, operator } = config.console;
  return {
    service: segment,
    version,
    demo: isDemo,
    headerPrefix,
    domain: domainName,
    publicUrl: config.service.public_url,
    images,
    manage,
    operator,
    sessions: config.auth.sessions,
    anonymous: config.http.anonymous,
    stream: config.stream.enabled,
    signers: !config.signers.enabled ? "off" : hasMasterKey ? "on" : "no_key",
  };
}
