import { usePulse } from "../data/pulse.ts";
import { pageConfig } from "../page-config.ts";

/** Says that the node is not ready, which may be why something is not here. Nothing on a node that is. */
export function NotReadyYet() {
  const pulse = usePulse().data;
  if (!pulse || pulse.ready) return null;
  return (
    <p class="measure" role="status">
      <b>This node is not ready</b>: {pulse.reason ?? "it is starting"}. What it does not have yet may come.
    </p>
  );
}

/** What stands in the place of casts that are not there: why, and what to do. */
export function NothingCast() {
  const pulse = usePulse().data;
  const { service } = pageConfig;
  if (pulse && !pulse.ready)
    return (
      <p role="status">
        <b>This node is not ready</b>: {pulse.reason ?? "it is starting"}. Casts appear here once it has them.
      </p>
    );
  if (pulse?.counts.fids === 0)
    return (
      <div class="stack">
        <p>This node is empty. It gets people and casts in one of these ways:</p>
        <dl class="pairs">
          <dt>Follow a node</dt>
          <dd class="mono user">
            {service} serve --set <span class="nowrap">upstream.url=http://host:3383</span>
          </dd>
          <dt>Import a file</dt>
          <dd class="mono user">{service} import FILE</dd>
          <dt>Look around first</dt>
          <dd class="mono user">{service} serve --demo</dd>
        </dl>
      </div>
    );
  return (
    <p>
      Nothing cast in 24 hours. The <a href="/console/channels">channels</a> have what was said before.
    </p>
  );
}
