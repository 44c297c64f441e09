import { HAS_HISTORY, Scrubber, type ScrubberProps } from "../moment/scrubber.tsx";
import { apiPrefix } from "../page-config.ts";
import { usePublicIncidents } from "./incidents.tsx";

/** The scrubber of a page for anybody; nothing where the node keeps no history. */
export function PublicScrubber(props: Pick<ScrubberProps, "events" | "onEvents">) {
  const incidents = usePublicIncidents();
  if (!HAS_HISTORY) return null;
  return (
    <Scrubber {...props} path={`${apiPrefix}/history/lanes`} incidents={incidents.data?.incidents ?? []} />
  );
}
