import type { Admission } from "../../admission/admission.ts";
import type { Common } from "../../runtime/common.ts";
import { processDescriptors } from "../../runtime/process.ts";
import { createStreamSlots } from "../../stream/slots.ts";
import { connectionCaps } from "../connection-caps.ts";

/** Creates the slots of streams, as many as the files that the process may open allow. */
export function openStreamSlots(
  { config, log }: Pick<Common, "config" | "log">,
  { budgets }: Pick<Admission, "budgets">,
  lagSecs: () => number,
): ReturnType<typeof createStreamSlots> {
  const { streams: connections, subscribers, isLowered } = connectionCaps(config, processDescriptors());
  if (isLowered)
    log.warn(
      { streams: connections, subscribers },
      "The limit of open files is low: fewer streams are accepted than the settings allow",
    );
  const connectionsPerAddress = config.stream.max_connections_per_ip;
  return createStreamSlots({ connections, connectionsPerAddress }, budgets, lagSecs);
}
