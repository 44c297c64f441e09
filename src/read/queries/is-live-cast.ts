import { BELOW_ALL_CASTS } from "../../db/index/cast-id.ts";

/**
 * Returns the condition that the cast is live which a live row names by this id, such as the target of a reaction. Such a cast is
 * in `casts` or in `missing_casts`. Few casts that were here before are missing, so this reads hardly any page beside the
 * row that names the cast, while a lookup in `casts` reads a page for each cast.
 *
 * @param id the column that names the cast; it may also hold the id of a URL
 */
export const isLiveCast = (id: string) =>
  `(${id} > ${BELOW_ALL_CASTS} AND NOT EXISTS (SELECT 1 FROM missing_casts m WHERE m.id = ${id}))`;
