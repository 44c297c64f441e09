import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get } from "../../data/call.ts";
import type { Channel, User } from "../../data/objects.ts";
import { useQuery } from "../../data/query.ts";
import { Icon } from "../../icons.tsx";
import { Face } from "../../parts/face.tsx";
import { displayNameOf, handleOf, plainName } from "../../text/name.ts";
import { UserName } from "../../text/user-name.tsx";

const TYPING_MS = 150;
const MAX_FOUND = 6;
/** Values that are shown with their names; the API takes more. */
const MAX_NAMED = 100;

interface ChipsProps {
  readonly label: string;
  /** Unique on the page. */
  readonly name: string;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  readonly problem?: string | undefined;
}

/** A text that follows another one after a pause of typing. */
function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed.trim();
}

interface Found {
  readonly value: string;
  readonly plain: string;
  readonly shown: ComponentChildren;
}

/** Chosen values, each with a button that removes it, and an input that finds more. */
function Chips({
  label,
  name,
  values,
  onChange,
  problem,
  hint,
  text,
  onText,
  found,
  nameOf,
  read,
}: ChipsProps & {
  readonly hint: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly found: readonly Found[];
  readonly nameOf: (value: string) => { readonly plain: string; readonly shown: ComponentChildren };
  /** Reads what was typed as a value of its own. */
  readonly read: (text: string) => string | undefined;
}) {
  const add = (value: string | undefined) => {
    if (value === undefined) return;
    if (!values.includes(value)) onChange([...values, value]);
    onText("");
  };
  const choices = found.filter(({ value }) => !values.includes(value)).slice(0, MAX_FOUND);
  return (
    <div class="field">
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
                  aria-label={`Remove ${plain}`}
                  onClick={() => onChange(values.filter((one) => one !== value))}
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
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${name}-hint`}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || text.trim() === "") return;
          event.preventDefault();
          add(read(text.trim()) ?? choices[0]?.value);
        }}
      />
      {text.trim() !== "" && choices.length > 0 && (
        <ul class="found" aria-label={`Found for ${label}`}>
          {choices.map(({ value, plain, shown }) => (
            <li key={value}>
              <button type="button" class="btn quiet" aria-label={`Add ${plain}`} onClick={() => add(value)}>
                {shown}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="hint" id={`${name}-hint`}>
        {problem === undefined ? <span>{hint}</span> : <span class="problem">{problem}</span>}
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

/** People, found by their names. The values are fids. */
export function PeopleField(props: ChipsProps) {
  const [text, setText] = useState("");
  const typed = useTyped(text);
  const named = props.values.slice(0, MAX_NAMED).join(",");
  const known = useQuery<{ users: readonly User[] }>(
    named === "" ? undefined : get("/user/bulk", { fids: named }),
  );
  const search = useQuery<{ users: readonly User[] }>(
    typed === "" || /^\d+$/.test(typed)
      ? undefined
      : get("/user/search", { q: typed.replace(/^@/, ""), limit: MAX_FOUND }),
  );
  const users = new Map(
    [...(search.data?.users ?? []), ...(known.data?.users ?? [])].map((user) => [String(user.fid), user]),
  );
  return (
    <Chips
      {...props}
      hint="By name, @handle or fid."
      text={text}
      onText={setText}
      found={(typed === "" ? [] : (search.data?.users ?? [])).map((user) => ({
        value: String(user.fid),
        plain: `${plainName(displayNameOf(user))}, ${handleOf(user)}`,
        shown: <Person user={user} />,
      }))}
      nameOf={(value) => {
        const user = users.get(value);
        if (!user) return { plain: `fid ${value}`, shown: `fid ${value}` };
        return { plain: plainName(displayNameOf(user)), shown: <Person user={user} /> };
      }}
      read={(entry) => (/^\d{1,15}$/.test(entry) ? String(Number(entry)) : undefined)}
    />
  );
}

/** Parent URLs, of which those of channels are found by name. */
export function ChannelField(props: ChipsProps) {
  const [text, setText] = useState("");
  const typed = useTyped(text);
  const search = useQuery<{ channels: readonly Channel[] }>(
    typed === "" || typed.includes("://")
      ? undefined
      : get("/channel/search", { q: typed.replace(/^\//, ""), limit: MAX_FOUND }),
  );
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const found = typed === "" ? [] : (search.data?.channels ?? []);
  return (
    <Chips
      {...props}
      onChange={(values) => {
        setNames({ ...Object.fromEntries(found.map(({ url, name }) => [url, name])), ...names });
        props.onChange(values);
      }}
      hint="A channel by name, or any URL"
      text={text}
      onText={setText}
      found={found.map(({ url, name }) => ({
        value: url,
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
