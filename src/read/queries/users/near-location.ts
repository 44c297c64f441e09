import { statement } from "../../../db/index/statement.ts";
import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, pagedList } from "../../cursor.ts";

/** Maximum distance of a nearby user, in kilometres. */
export const RADIUS_KM = 50;
/** Maximum number of users read for one search, those on the nearest latitudes first. */
export const MAX_CANDIDATES = 10_000;

/** Locations have two decimals, so each hundredth of a degree of latitude is a distinct prefix. */
const STEPS_PER_DEGREE = 100;
const KM_PER_DEGREE = 111.195;
const EARTH_RADIUS_KM = 6371.01;

interface Candidate {
  fid: number;
  value: string;
}

// `-` is the character after `,`, so all locations of a latitude are between `geo:<lat>,` and `geo:<lat>-`.
const candidates = statement<
  Candidate,
  [rowsJson: string, west: number, east: number, westToo: number, eastToo: number, limit: number]
>(
  "skeleton.users.near-location",
  `SELECT d.fid, d.value FROM json_each(?1) j
   CROSS JOIN user_data d ON d.type IN (7, 8) AND d.value != '' AND d.type = ${UserDataType.USER_DATA_TYPE_LOCATION}
     AND d.value COLLATE NOCASE > j.value || ',' AND d.value COLLATE NOCASE < j.value || '-'
   WHERE CAST(substr(d.value, length(j.value) + 2) AS REAL) BETWEEN ?2 AND ?3
     OR CAST(substr(d.value, length(j.value) + 2) AS REAL) BETWEEN ?4 AND ?5
   LIMIT ?6`,
);

export interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * Lists the users whose declared location is within `RADIUS_KM` of a place, nearest first, then by fid. If more than
 * `MAX_CANDIDATES` users declare a location between the meridians of the radius, only those on the nearest latitudes are
 * read.
 */
export const usersNearLocation = pagedList(
  cursorCodec("user/by_location by distance", ["int", "int"]),
  (db, { place }: { readonly place: Coordinates }, { limit, after: [metresBefore, fidBefore] = [-1, 0] }) => {
    const [range, wrapped] = longitudes(place);
    const json = JSON.stringify(latitudeRows(place.latitude));
    return db
      .all(candidates, json, ...range, ...wrapped, MAX_CANDIDATES)
      .map(({ fid, value }) => ({ fid, metres: Math.round(distanceKm(place, parseLocation(value)) * 1000) }))
      .filter(({ metres }) => metres <= RADIUS_KM * 1000)
      .filter(({ fid, metres }) => metres > metresBefore || (metres === metresBefore && fid > fidBefore))
      .sort((a, b) => a.metres - b.metres || a.fid - b.fid)
      .slice(0, limit);
  },
  ({ metres, fid }) => [metres, fid],
);

/** Returns the location prefixes of the latitudes within the radius, nearest first. */
function latitudeRows(latitude: number): string[] {
  const centre = Math.round(latitude * STEPS_PER_DEGREE);
  const reach = Math.ceil((RADIUS_KM / KM_PER_DEGREE) * STEPS_PER_DEGREE) + 1;
  const rows: string[] = [];
  for (let away = 0; away <= reach; away++) {
    for (const step of away === 0 ? [centre] : [centre - away, centre + away]) {
      if (Math.abs(step) > 90 * STEPS_PER_DEGREE) continue;
      const degrees = (Math.abs(step) / STEPS_PER_DEGREE).toFixed(2);
      const padded = [degrees, degrees.padStart(5, "0")];
      // Zero is also spelled `-0.00`, and five `05.00`.
      const signs = step === 0 ? ["", "-"] : [step < 0 ? "-" : ""];
      for (const sign of signs) for (const text of new Set(padded)) rows.push(`geo:${sign}${text}`);
    }
  }
  return rows;
}

type Range = [from: number, to: number];
const EMPTY: Range = [1, 0];
const ALL: Range = [-180, 180];

/** Returns the longitudes within the radius: two ranges across the date line, and all longitudes near a pole. */
function longitudes({ latitude, longitude }: Coordinates): [Range, Range] {
  const widest = Math.abs(latitude) + RADIUS_KM / KM_PER_DEGREE + 1 / STEPS_PER_DEGREE;
  if (widest >= 90) return [ALL, EMPTY];
  const reach = RADIUS_KM / (KM_PER_DEGREE * Math.cos(radians(widest)));
  const [west, east] = [longitude - reach, longitude + reach];
  if (reach >= 180) return [ALL, EMPTY];
  if (west < -180)
    return [
      [-180, east],
      [west + 360, 180],
    ];
  if (east > 180)
    return [
      [west, 180],
      [-180, east - 360],
    ];
  return [[west, east], EMPTY];
}

function parseLocation(value: string): Coordinates {
  const [latitude = "", longitude = ""] = value.slice("geo:".length).split(",");
  return { latitude: Number(latitude), longitude: Number(longitude) };
}

/** Returns the great-circle distance in kilometres (haversine formula). */
function distanceKm(a: Coordinates, b: Coordinates): number {
  const north = radians(b.latitude - a.latitude) / 2;
  const east = radians(b.longitude - a.longitude) / 2;
  const chord =
    Math.sin(north) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord)));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
