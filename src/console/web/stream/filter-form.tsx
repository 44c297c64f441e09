import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { EventKind } from "../../../protocol/event-kind.ts";
import { get } from "../data/call.ts";
import { RequestFailure, request } from "../data/request.ts";
import { timePairs } from "../moment/window.ts";
import { Checkbox, Field, focusField, Radios } from "../parts/form.tsx";
import * as msg from "../text/en/stream.ts";
import {
  EVENT_KINDS,
  FILTER_FIELDS,
  type FilterField,
  problemOf,
  type StreamFilters,
  splitValues,
  writeFilters,
} from "./filters.ts";

const startOf = (kind: EventKind) => kind.slice(0, kind.indexOf(".") + 1);
/** What the kinds of a group start with. */
const STARTS = [...new Set(EVENT_KINDS.map(startOf))];

/** The kinds of events to choose from. Those that are `taken` have another filter. */
export function KindChecks(props: {
  kinds: readonly EventKind[];
  onChange: (kinds: readonly EventKind[]) => void;
  taken?: readonly string[];
  problem?: string | undefined;
}) {
  const { kinds, onChange, taken = [], problem } = props;
  return (
    <>
      <div class="event-kinds">
        {STARTS.map((start) => (
          <div key={start}>
            <span class="dim" aria-hidden="true">
              {start}
            </span>
            <div class="checks">
              {EVENT_KINDS.filter((kind) => startOf(kind) === start).map((kind) => (
                <Checkbox
                  key={kind}
                  name={kind}
                  checked={kinds.includes(kind)}
                  disabled={taken.includes(kind)}
                  isInvalid={problem !== undefined}
                  onChange={(isOn) =>
                    onChange(EVENT_KINDS.filter((one) => (one === kind ? isOn : kinds.includes(one))))
                  }
                >
                  {kind.slice(start.length)}
                </Checkbox>
              ))}
            </div>
          </div>
        ))}
      </div>
      {problem !== undefined && <p class="problem">{problem}</p>}
    </>
  );
}

const MATCHES = [
  ["all", msg.allMustMatch],
  ["any", msg.anyMayMatch],
] as const;

/** The choice of how several filters combine. */
export const MatchRadios = (props: { name: string; match: Match; onChange: (match: Match) => void }) => (
  <Radios name={props.name} options={MATCHES} value={props.match} onChange={props.onChange} />
);

type Match = StreamFilters["match"];
type Texts = Readonly<Record<string, string>>;

const HINTS: Readonly<Record<FilterField["values"], string>> = {
  people: msg.fidsOrNamesWithSpacesBetween,
  hashes: msg.n0xAnd40HexDigits,
  urls: msg.oneOrMoreWithSpacesBetween,
  channels: msg.idsOfChannelsWithSpacesBetween,
  expression: msg.aRegularExpressionRe2FoundAnywhere,
  score: msg.aNumberFrom0To1OnNodes,
};

const GROUPS = [...new Set(FILTER_FIELDS.map(({ group }) => group))];

/** Reads a form as a query of the stream; undefined if it has a problem, which it then shows. */
export type FormReader = { current: (() => Promise<string | undefined>) | undefined };

/** The filters of the stream. "Show" puts them into the URL; `reader` is set to a function that reads the form for others. */
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
    if (query === undefined) return;
    const pairs = [...(query === "" ? [] : [query]), ...timePairs(location.search)];
    route(`/console/stream${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`);
  }

  return (
    <form class="stack" ref={form} onSubmit={(event) => void submit(event)}>
      <fieldset>
        <legend>{msg.kindsOfEvents}</legend>
        <p class="dim">{msg.withNoneTickedYouSeeEvery}</p>
        <KindChecks kinds={kinds} onChange={setKinds} />
      </fieldset>
      {GROUPS.map((group) => {
        const fields = FILTER_FIELDS.filter((field) => field.group === group);
        const isUsed = fields.some(({ name }) => (texts[name] ?? "") !== "");
        return (
          <details open={isUsed} key={group}>
            <summary>{msg.filterGroups[group]}</summary>
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
        <legend>{msg.whenThereAreSeveralFilters}</legend>
        <MatchRadios name="match" match={match} onChange={setMatch} />
      </fieldset>
      <div class="row wrap">
        <button type="submit" class="btn go" aria-disabled={isBusy}>
          {msg.showThese}
        </button>
        <a class="btn quiet" href="/console/stream">
          {msg.showAll}
        </a>
      </div>
    </form>
  );
}

interface ReadTexts {
  readonly values: Record<string, readonly string[]>;
  readonly problems: Record<string, string>;
}

/** Reads the typed texts; names are looked up to get fids. */
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
    const { user } = await request(get("/user/by-username", { username }));
    return String(user.fid);
  } catch (cause) {
    if (cause instanceof RequestFailure && cause.status === 404)
      throw new RequestFailure({ status: 404, message: msg.isNotANameThatThis(text) });
    throw cause;
  }
}
