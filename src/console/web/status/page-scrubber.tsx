import { HAS_HISTORY, Scrubber, type ScrubberProps } from "../moment/scrubber.tsx";
import { asReport, useOwnIncidents } from "../notices/own-incidents.ts";
import { apiPrefix } from "../page-config.ts";
import { usePublicIncidents } from "./incidents.tsx";

/** The scrubber of a page for visitors and owners; renders nothing without a history. Its incidents are public or the owner's own. */
export function PageScrubber(props: Pick<ScrubberProps, "events" | "onEvents">) {
  const { data: common } = usePublicIncidents();
  const { data: own } = useOwnIncidents();
  if (!HAS_HISTORY) return null;
  const incidents = [...(common?.incidents ?? []), ...(own?.incidents ?? []).map(asReport)];
  return <Scrubber {...props} path={`${apiPrefix}/history/lanes`} incidents={incidents} />;
}
