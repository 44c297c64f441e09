import { type Query, useQuery } from "../data/query.ts";

/** A person of the demo network, as the page names people. */
export interface DemoUser {
  readonly fid: number;
  readonly username: string;
  readonly display_name: string;
}

interface People {
  readonly people: readonly {
    readonly fid: number;
    readonly username: string | null;
    readonly display_name: string;
  }[];
}

const PEOPLE = { method: "GET", path: "/console/demo/people" } as const;

/** The people of the demo network, loaded on first use. */
export function useDemoPeople(isWanted: boolean): {
  readonly people: readonly DemoUser[];
  readonly query: Query<People>;
} {
  const query = useQuery<People>(isWanted ? PEOPLE : undefined);
  const people = (query.data?.people ?? []).map(({ fid, username, display_name }) => ({
    fid,
    username: username ?? `!${fid}`,
    display_name,
  }));
  return { people, query };
}

/** A person, by their fid alone while their name is not known. */
export const demoUserOf = (people: readonly DemoUser[], fid: number): DemoUser =>
  people.find((person) => person.fid === fid) ?? { fid, username: String(fid), display_name: `fid ${fid}` };
