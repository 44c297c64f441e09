import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Face } from "../../content/face.tsx";
import { get, type User } from "../../data/call.ts";
import { useQuery } from "../../data/query.ts";
import { Icon } from "../../icons/icons.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { displayNameOf, handleOf, plainName } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";

const TYPING_MS = 150;
const MAX_FOUND = 6;
/** How many results are searched for an exact match of the text. */
const SEARCHED = 25;
/** How many values are shown with their names; the API accepts more. */
const MAX_NAMED = 100;

export interface ChipsProps {
  readonly label: string;
  /** Unique on the page. */
  readonly name: string;
  readonly values: readonly string[];
  /** Typed text that is not a value yet. */
  readonly typed: string;
  readonly onChange: (values: readonly string[], typed: string) => void;
  readonly problem: string | undefined;
}

/** Returns a text after a pause in typing. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused.trim();
}

interface Found {
  readonly value: string;
  readonly plain: string;
  readonly shown: ComponentChildren;
  /** Whether it equals the typed text, rather than only starting with it. */
  readonly isExact: boolean;
}

/** Reports whether a text equals one of the names, ignoring case. */
const isOneOf = (text: string, ...names: readonly (string | null | undefined)[]) =>
  names.some((name) => name?.toLowerCase() === text.toLowerCase());

/**
 * Chosen values, each with a button that removes it, and an input that finds more. The typed text becomes a value when the input loses
 * focus and exactly one result equals it. Any other text is marked, because the form would ignore it.
 */
function Chips({
  label,
  name,
  values,
  typed,
  onChange,
  problem,
  hint,
  found,
  nameOf,
  read,
}: ChipsProps & {
  readonly hint: string;
  /** The results for the text; undefined while it is looked up. */
  readonly found: readonly Found[] | undefined;
  readonly nameOf: (value: string) => { readonly plain: string; readonly shown: ComponentChildren };
  /** Reads the typed text as a value without a lookup. */
  readonly read: (text: string) => string | undefined;
}) {
  const field = useRef<HTMLDivElement>(null);
  // A text that the form had before, for instance before a reload, is marked at once.
  const [isLeft, setLeft] = useState(true);
  const text = typed.trim();
  const add = (value: string | undefined) => {
    if (value !== undefined) onChange(values.includes(value) ? values : [...values, value], "");
  };
  useEffect(() => {
    if (!isLeft || text === "") return;
    const exact = (found ?? []).filter((one) => one.isExact);
    add(read(text) ?? (exact.length === 1 ? exact[0]?.value : undefined));
  }, [isLeft, text, found]);
  const choices = (found ?? []).filter(({ value }) => !values.includes(value)).slice(0, MAX_FOUND);
  const isMarked = problem !== undefined && (isLeft || text === "");
  return (
    <div class="field" ref={field}>
      <label for={name}>{label}</label>
      {values.length > 0 && (
        <ul class="chips" aria-label={label}>
          {values.map((value) => {
            const { plain, shown } = nameOf(value);
            return (
              <li class="pill acc" key={value}>
                {shown}
                <button
                  type="button"
                  aria-label={msg.remove(plain)}
                  onClick={() =>
                    onChange(
                      values.filter((one) => one !== value),
                      typed,
                    )
                  }
                >
                  <Icon name="close" size={12} />
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <input
        id={name}
        name={name}
        type="text"
        autoComplete="off"
        spellcheck={false}
        value={typed}
        aria-invalid={isMarked}
        aria-describedby={`${name}-hint`}
        onInput={({ currentTarget }) => {
          setLeft(false);
          onChange(values, currentTarget.value);
        }}
        onBlur={({ relatedTarget }) => {
          if (!(relatedTarget instanceof Node && field.current?.contains(relatedTarget))) setLeft(true);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || text === "") return;
          event.preventDefault();
          add(read(text) ?? choices[0]?.value);
        }}
      />
      {text !== "" && choices.length > 0 && (
        <ul class="found" aria-label={msg.foundFor(label)}>
          {choices.map(({ value, plain, shown }) => (
            <li key={value}>
              <button
                type="button"
                class="btn quiet"
                aria-label={msg.add(plain)}
                // The input keeps the focus: losing it could close the list before the click.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => add(value)}
              >
                {shown}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="hint" id={`${name}-hint`}>
        {isMarked ? <span class="problem">{problem}</span> : <span>{hint}</span>}
      </div>
    </div>
  );
}

const Person = ({ user }: { user: User }) => (
  <>
    <Face user={user} size={1.25} />
    <span>
      <UserName name={displayNameOf(user)} /> <span class="dim">{handleOf(user)}</span>
    </span>
  </>
);

/** People, found by name. The values are fids. */
export function PeopleField(props: ChipsProps) {
  const typed = usePaused(props.typed);
  const named = props.values.slice(0, MAX_NAMED).join(",");
  const known = useQuery(named === "" ? undefined : get("/user/bulk", { fids: named }));
  const search = useQuery(
    typed === "" || /^\d+$/.test(typed)
      ? undefined
      : get("/user/search", { q: typed.replace(/^@/, ""), limit: SEARCHED }),
  );
  const users = new Map(
    [...(search.data?.users ?? []), ...(known.data?.users ?? [])].map((user) => [String(user.fid), user]),
  );
  return (
    <Chips
      {...props}
      hint={msg.byNameHandleOrFid}
      found={
        typed === props.typed.trim()
          ? search.data?.users.map((user) => ({
              value: String(user.fid),
              plain: `${plainName(displayNameOf(user))}, ${handleOf(user)}`,
              shown: <Person user={user} />,
              isExact: isOneOf(typed, handleOf(user), user.username, user.display_name),
            }))
          : undefined
      }
      nameOf={(value) => {
        const user = users.get(value);
        if (!user) return { plain: msg.fid(value), shown: msg.fid(value) };
        return { plain: plainName(displayNameOf(user)), shown: <Person user={user} /> };
      }}
      read={(entry) => (/^\d{1,15}$/.test(entry) ? String(Number(entry)) : undefined)}
    />
  );
}

/** Parent URLs; those of channels are found by name. */
export function ChannelField(props: ChipsProps) {
  const typed = usePaused(props.typed);
  const search = useQuery(
    typed === "" || typed.includes("://")
      ? undefined
      : get("/channel/search", { q: typed.replace(/^\//, ""), limit: SEARCHED }),
  );
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const found = typed === props.typed.trim() ? search.data?.channels : undefined;
  return (
    <Chips
      {...props}
      onChange={(values, text) => {
        setNames({ ...Object.fromEntries((found ?? []).map(({ url, name }) => [url, name])), ...names });
        props.onChange(values, text);
      }}
      hint={msg.aChannelByNameOrAny}
      found={found?.map(({ id, url, name }) => ({
        value: url,
        isExact: isOneOf(typed.replace(/^\//, ""), id, name),
        plain: `/${plainName(name)}`,
        shown: (
          <>
            /<UserName name={name} />
          </>
        ),
      }))}
      nameOf={(value) => {
        const name = names[value] ?? /\/~\/channel\/([^/?#]+)$/.exec(value)?.[1];
        if (name === undefined) return { plain: value, shown: <bdi class="user">{value}</bdi> };
        return {
          plain: `/${plainName(name)}`,
          shown: (
            <span title={value}>
              /<UserName name={name} />
            </span>
          ),
        };
      }}
      read={(entry) => (entry.includes("://") ? entry : undefined)}
    />
  );
}
