import { serviceNames } from "../../../config/names.ts";
import type { Config } from "../../../config/schema.ts";
import { version } from "../../../version.ts";
import type { SenderSettings } from "../../../webhooks/deliver/call-receiver.ts";

/** Returns how the deliveries of a node identify themselves. */
export function senderOf({ service }: Config): SenderSettings {
  const { headerPrefix } = serviceNames(service.name);
  return {
    userAgent: `${service.name}/${version}`,
    signatureHeader: `${headerPrefix}Signature`,
    replayHeader: `${headerPrefix}Replay`,
  };
}
