import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { get } from "../data/call.ts";
import type { User } from "../data/objects.ts";
import { RequestFailure, request } from "../data/request.ts";
import { Field, focusField } from "../parts/field.tsx";
import {
  EVENT_KINDS,
  type EventKind,
  FILTER_FIELDS,
  type FilterField,
  problemOf,
  type StreamFilters,
  splitValues,
  writeFilters,
} from "./filters.ts";

type Texts = Readonly<Record<string, string>>;

const HINTS: Readonly<Record<FilterField["values"], string>> = {
  people: "Fids or @names, with spaces between.",
  hashes: "0x and 40 hex digits.",
  urls: "One or more, with spaces between.",
  expression: "A regular expression (RE2), found anywhere; (?i) ignores case.",
};

const GROUPS = [...new Set(FILTER_FIELDS.map(({ group }) => group))];

/** Reads a form as a query of the stream; undefined where it has a problem, which it then shows. */
export type FormReader = { current: (() => Promise<string | undefined>) | undefined };

/** The filters of the stream. "Show" puts them into the URL; `reader` gets what reads the form for others. */
export function FilterForm({ filters, reader }: { filters: StreamFilters; reader: FormReader }) {
  const { route } = useLocation();
  const [kinds, setKinds] = useState<readonly EventKind[]>(filters.kinds);
  const [match, setMatch] = useState(filters.match);
  const [texts, setTexts] = useState<Texts>(() =>
    Object.fromEntries(Object.entries(filters.values).map(([name, values]) => [name, values.join(" ")])),
  );
  const [problems, setProblems] = useState<Texts>({});
  const [isBusy, setBusy] = useState(false);

  const form = useRef<HTMLFormElement>(null);

  async function read(): Promise<string | undefined> {
    if (isBusy) return undefined;
    setBusy(true);
    const { values, problems: found } = await readTexts(texts);
    setBusy(false);
    setProblems(found);
    const [first] = Object.keys(found);
    if (first === undefined) return writeFilters({ kinds, match, values });
    focusField(form.current?.querySelector(`#${first}`));
    return undefined;
  }
  reader.current = read;

  async function submit(event: Event) {
    event.preventDefault();
    const query = await read();
    if (query !== undefined) route(`/console/stream${query === "" ? "" : `?${query}`}`);
  }

  return (
    <form class="stack" ref={form} onSubmit={(event) => void submit(event)}>
      <fieldset>
        <legend>Kinds of events</legend>
        <p class="dim">With none ticked, you see every kind that the filters below apply to.</p>
        <div class="checks even">
          {EVENT_KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={kinds.includes(kind)}
                onChange={({ currentTarget }) =>
                  setKinds(currentTarget.checked ? [...kinds, kind] : kinds.filter((one) => one !== kind))
                }
              />
              {kind}
            </label>
          ))}
        </div>
      </fieldset>
      {GROUPS.map((group) => {
        const fields = FILTER_FIELDS.filter((field) => field.group === group);
        const isUsed = fields.some(({ name }) => (texts[name] ?? "") !== "");
        return (
          <details open={isUsed} key={group}>
            <summary>{group}</summary>
            <div class="stack">
              {fields.map((field) => (
                <Field
                  label={field.label}
                  name={field.name}
                  value={texts[field.name] ?? ""}
                  onInput={(text) => setTexts({ ...texts, [field.name]: text })}
                  hint={HINTS[field.values]}
                  problem={problems[field.name]}
                  key={field.name}
                />
              ))}
            </div>
          </details>
        );
      })}
      <fieldset class="row wrap">
        <legend>When there are several filters</legend>
        {(["all", "any"] as const).map((value) => (
          <label class="row tight" key={value}>
            <input type="radio" name="match" checked={match === value} onChange={() => setMatch(value)} />
            {value === "all" ? "all must match" : "any may match"}
          </label>
        ))}
      </fieldset>
      <div class="row wrap">
        <button type="submit" class="btn go" aria-disabled={isBusy}>
          Show these
        </button>
        <a class="btn quiet" href="/console/stream">
          Show all
        </a>
      </div>
    </form>
  );
}

interface ReadTexts {
  readonly values: Record<string, readonly string[]>;
  readonly problems: Record<string, string>;
}

/** Reads what was typed; names become fids by asking for them. */
async function readTexts(texts: Texts): Promise<ReadTexts> {
  const values: Record<string, readonly string[]> = {};
  const problems: Record<string, string> = {};
  for (const field of FILTER_FIELDS) {
    const typed = splitValues(field, texts[field.name] ?? "");
    const problem = typed.map((value) => problemOf(field, value)).find((one) => one !== undefined);
    if (problem !== undefined) problems[field.name] = problem;
    else if (typed.length > 0) {
      try {
        values[field.name] = field.values === "people" ? await Promise.all(typed.map(fidOf)) : typed;
      } catch (cause) {
        if (!(cause instanceof RequestFailure)) throw cause;
        problems[field.name] = cause.message;
      }
    }
  }
  return { values, problems };
}

async function fidOf(text: string): Promise<string> {
  if (!text.startsWith("@")) return text;
  const username = text.slice(1).toLowerCase();
  try {
    const { user } = await request<{ user: User }>(get("/user/by-username", { username }));
    return String(user.fid);
  } catch (cause) {
    if (cause instanceof RequestFailure && cause.status === 404)
      throw new RequestFailure({ status: 404, message: `${text} is not a name that this node knows` });
    throw cause;
  }
}
