import lookUpZone from "@photostructure/tz-lookup";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { UserDataType } from "../../protocol/wire/generated/message.ts";
import type { OpenStore } from "../store/open-store.ts";
import { zoneNamed } from "./timing.ts";

/** Where the zone of someone is known from. */
export type ZoneSource = "reported" | "location";

/** Returns the zones that are known of some fids, as of a time in unix seconds. */
export type ZonesOf = (
  appId: string,
  fids: readonly number[],
  atSecs: number,
) => Promise<ReadonlyMap<number, { readonly zone: string; readonly source: ZoneSource }>>;

const locations = statement<{ fid: number; value: string }, [fids: string]>(
  "push.locations",
  `SELECT d.fid, d.value FROM json_each(?) j CROSS JOIN user_data d
   ON d.fid = j.value AND d.type = ${UserDataType.USER_DATA_TYPE_LOCATION} WHERE d.value != ''`,
);

/** Locations have two decimals, so that people of a town share one. */
const MAX_KNOWN = 10_000;

/** Takes what apps have reported, then the location that the profile declares. */
export function createZonesOf({
  db,
  opens,
}: {
  readonly db: IndexDatabase;
  readonly opens: Pick<OpenStore, "zonesAt">;
}): ZonesOf {
  const known = new Map<string, string | undefined>();

  function zoneAt(location: string): string | undefined {
    if (known.has(location)) return known.get(location);
    const [, latitude, longitude] = /^geo:(-?[\d.]+),(-?[\d.]+)$/.exec(location) ?? [];
    if (known.size >= MAX_KNOWN) known.clear();
    const zone = latitude === undefined ? undefined : placeZone(Number(latitude), Number(longitude));
    known.set(location, zone);
    return zone;
  }

  return async (appId, fids, atSecs) => {
    const reported = await opens.zonesAt(appId, fids, atSecs);
    const zones = new Map<number, { zone: string; source: ZoneSource }>();
    for (const [fid, zone] of reported) zones.set(fid, { zone, source: "reported" });
    const others = fids.filter((fid) => !zones.has(fid));
    for (const { fid, value } of db.all(locations, JSON.stringify(others))) {
      const zone = zoneAt(value);
      if (zone !== undefined) zones.set(fid, { zone, source: "location" });
    }
    return zones;
  };
}

function placeZone(latitude: number, longitude: number): string | undefined {
  try {
    return zoneNamed(lookUpZone(latitude, longitude));
  } catch {
    // Validation accepts only coordinates that exist, but an old record may have others.
    return undefined;
  }
}
