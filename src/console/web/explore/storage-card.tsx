import { get } from "../data/call.ts";
import { formatCount, plural } from "../data/format.ts";
import { useQuery } from "../data/query.ts";
import { Region } from "../parts/region.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

interface StorageUsage {
  readonly units: readonly {
    readonly store_type: string;
    readonly used: number;
    readonly capacity: number;
  }[];
}

interface Allocations {
  readonly total_active_units: number;
}

const NAMES: Readonly<Record<string, string>> = {
  casts: "Casts",
  reactions: "Reactions",
  links: "Follows",
  verifications: "Verified addresses",
  user_data: "Profile",
  username_proofs: "Names",
  storage_lends: "Lent storage",
};

function Meter({ name, used, capacity }: { name: string; used: number; capacity: number }) {
  return (
    <div class="meter">
      <div class="row">
        <span class="grow">{name}</span>
        <span class="dim">
          {formatCount(used)} of {formatCount(capacity)}
        </span>
      </div>
      <meter min={0} max={Math.max(1, capacity)} value={used} aria-label={name}>
        {used}
      </meter>
    </div>
  );
}

/** How much of the storage that a person has rented is in use. */
export function StorageCard({ fid }: { fid: number }) {
  const call = get("/user/storage-usage", { fid });
  const usage = useQuery<StorageUsage>(call);
  const allocations = useQuery<Allocations>(get("/user/storage-allocations", { fid }));
  const units = allocations.data?.total_active_units;
  return (
    <Region
      title="Storage"
      call={call}
      query={usage}
      skeleton={<Skeleton rows={7} height={2.25} />}
      aside={units === undefined ? undefined : <span class="dim s">{plural(units, "unit")}</span>}
    >
      {(body) => (
        <div class="pad stack s">
          {body.units.map(({ store_type, used, capacity }) => (
            <Meter name={NAMES[store_type] ?? store_type} used={used} capacity={capacity} key={store_type} />
          ))}
        </div>
      )}
    </Region>
  );
}
