import { reachOf } from "../text/reach.ts";

const WHO = { machine: "this machine", network: "machines in the same network" } as const;

/** Says that others cannot open a URL of this node, where that is so. `others` is who would have to, as in `Clients`. */
export function ReachNote({ url, others }: { url: string; others: string }) {
  const reach = reachOf(url);
  if (reach === "everywhere") return null;
  return (
    <p class="s notice boxed" data-reach={reach}>
      <span>
        <b>{others} cannot reach this URL from outside.</b> Only {WHO[reach]} can open it. To change that, the
        operator sets <code>service.public_url</code> to the address that others use.
      </span>
    </p>
  );
}
