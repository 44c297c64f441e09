import { get } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import * as msg from "../text/en/tools/call.ts";
import { plainName } from "../text/name.ts";
import type { CallField } from "./form.ts";

/** What a field names, where words can be looked up for it. */
export function pickedBy({ name }: CallField): "people" | "channels" | undefined {
  if (/(^|_)fids?$/.test(name)) return "people";
  return /^channel_ids?$/.test(name) ? "channels" : undefined;
}

const OFFERED = 4;
/** The word that is being typed: fids are digits. */
const wordOf = (text: string) => /[^\s,]+$/.exec(text)?.[0].replace(/^[@/]/, "") ?? "";

/** People or channels whose names begin with what is typed; a click puts the id in its place. */
export function Picker(props: { kind: "people" | "channels"; text: string; onPick: (text: string) => void }) {
  const { kind, text, onPick } = props;
  const word = wordOf(text);
  const isWord = kind === "people" ? /^[a-z][\w.-]*$/i.test(word) : /^[\w-]{2,}$/.test(word);
  const people = useQuery(
    isWord && kind === "people" ? get("/user/search", { q: word, limit: OFFERED }) : undefined,
  );
  const channels = useQuery(
    isWord && kind === "channels" ? get("/channel/search", { q: word, limit: OFFERED }) : undefined,
  );
  if (!isWord) return null;
  const found =
    kind === "people"
      ? (people.data?.users ?? []).map(({ fid, username }) => [String(fid), `@${username}`] as const)
      : (channels.data?.channels ?? []).map(({ id }) => [id, `/${id}`] as const);
  const offered = found.filter(([id]) => id !== word);
  if (offered.length === 0) return null;
  return (
    <section class="row wrap tight" aria-label={msg.found}>
      {offered.map(([id, name]) => (
        <button
          type="button"
          class="btn quiet"
          key={id}
          onClick={() => onPick(text.replace(/[^\s,]+$/, () => id))}
        >
          <bdi class="user">{plainName(name)}</bdi> <span class="dim mono xs">{id}</span>
        </button>
      ))}
    </section>
  );
}
