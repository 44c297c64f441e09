import { indexPeople, markPeopleIndexed } from "../../search/people-index.ts";
import type { BulkStage } from "./stage.ts";

/** Fills the index of people in order of fids. */
export const PEOPLE_STAGE: BulkStage = {
  name: "people",
  weight: 2,
  run({ db, state, rowsPerStep }) {
    const last = indexPeople(db, state.get("last searchable fid") ?? 0, rowsPerStep);
    if (last === undefined) {
      markPeopleIndexed(db);
      return true;
    }
    state.put("last searchable fid", last);
    return false;
  },
};
