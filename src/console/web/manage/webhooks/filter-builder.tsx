import { useState } from "preact/hooks";
import { Checkbox, Field } from "../../parts/form.tsx";
import { KindChecks, MatchRadios } from "../../stream/filter-form.tsx";
import { EVENT_KINDS, EXCLUDED_PEOPLE, type FilterField, splitValues } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { filterGroups } from "../../text/en/stream.ts";
import { ChannelField, PeopleField } from "./chips.tsx";
import {
  EMPTY_GROUP,
  exclusionOf,
  type FilterState,
  fieldsOf,
  type FilterGroup as Group,
  KIND_FIELDS,
  withExclusion,
} from "./filter-state.ts";
import type { FilterBuilderProps } from "./json-view.tsx";
import { JsonView } from "./json-view.tsx";

const HINTS = {
  hashes: msg.n0xAnd40HexDigitsWith,
  expression: msg.foundAnywhereIIgnoresCase,
  channels: msg.idsOfRegisteredChannels,
  score: msg.aScoreFrom0To1OnNodes,
} as const;

interface FieldInputProps {
  readonly field: FilterField;
  readonly name: string;
  readonly values: readonly string[];
  readonly typed: string;
  readonly onChange: (values: readonly string[], typed: string) => void;
  readonly problem: string | undefined;
}

/** Keeps what was typed between the values, such as a space that is not followed by a value yet. */
function TextInput({ field, name, values, onChange, problem }: FieldInputProps) {
  const [typed, setTyped] = useState({ text: values.join(" "), values });
  const isOwn = typed.values.join(" ") === values.join(" ");
  return (
    <Field
      label={field.label}
      name={name}
      value={isOwn ? typed.text : values.join(" ")}
      onInput={(text) => {
        const next = splitValues(field, text);
        setTyped({ text, values: next });
        onChange(next, "");
      }}
      hint={field.values === "people" || field.values === "urls" ? "" : HINTS[field.values]}
      problem={problem}
    />
  );
}

function FieldInput(props: FieldInputProps) {
  const { field, ...chips } = props;
  if (field.values === "people") return <PeopleField label={field.label} {...chips} />;
  if (field.values === "urls") return <ChannelField label={field.label} {...chips} />;
  return <TextInput {...props} />;
}

const GROUPS = [...new Set(KIND_FIELDS.map(({ group }) => group))];

/** One filter and its kinds of events. */
function FilterGroup(props: {
  group: Group;
  /** Its number, which makes names unique on the page. */
  at: number;
  /** Kinds that have another filter. */
  taken: readonly string[];
  /** By field; a problem of the kinds is under "". */
  problems: Readonly<Record<string, string>>;
  onChange: (group: Group) => void;
  /** Undefined for the only group. */
  onRemove: (() => void) | undefined;
}) {
  const { group, at, taken, problems, onChange, onRemove } = props;
  const { kinds, match, values, typed = {} } = group;
  const offered = fieldsOf(kinds).map(({ name }) => name);
  const set = (name: string, items: readonly string[], text: string) => {
    const { [name]: _, ...others } = values;
    const { [name]: __, ...otherTexts } = typed;
    const texts = text.trim() === "" ? otherTexts : { ...otherTexts, [name]: text };
    const { typed: ___, ...rest } = group;
    onChange({
      ...rest,
      values: items.length === 0 ? others : { ...values, [name]: items },
      // An empty object means the same as no such field.
      ...(Object.keys(texts).length > 0 && { typed: texts }),
    });
  };
  return (
    <div class="stack filter">
      <fieldset>
        <legend>{msg.what}</legend>
        <KindChecks
          kinds={kinds}
          taken={taken}
          problem={problems[""]}
          onChange={(next) => onChange({ ...group, kinds: next })}
        />
      </fieldset>
      {GROUPS.map((title) => {
        // A field with a value is always shown, so that it can be cleared.
        const fields = KIND_FIELDS.filter(
          ({ group: of, name }) =>
            of === title &&
            (offered.includes(name) || values[name] !== undefined || typed[name] !== undefined),
        );
        if (fields.length === 0) return null;
        const isUsed = fields.some(({ name }) => values[name] !== undefined || typed[name] !== undefined);
        return (
          <details open={isUsed || title === "Who" || title === "Content"} key={title}>
            <summary>{filterGroups[title]}</summary>
            <div class="fields">
              {fields.map((field) => (
                <FieldInput
                  field={field}
                  name={`${field.name}-${at}`}
                  values={values[field.name] ?? []}
                  typed={typed[field.name] ?? ""}
                  onChange={(items, text) => set(field.name, items, text)}
                  problem={problems[field.name]}
                  key={field.name}
                />
              ))}
            </div>
          </details>
        );
      })}
      <div class="row wrap">
        <div class="grow" role="radiogroup" aria-label={msg.ofTheseFilters}>
          <MatchRadios
            name={`match-${at}`}
            match={match ?? "all"}
            onChange={(value) => onChange({ ...group, match: value === "any" ? "any" : undefined })}
          />
        </div>
        {onRemove && (
          <button type="button" class="btn" onClick={onRemove}>
            {msg.removeThisFilter}
          </button>
        )}
      </div>
    </div>
  );
}

/** The people that the whole subscription leaves out. */
function Excluded(props: {
  state: FilterState;
  problem: string | undefined;
  onChange: (state: FilterState) => void;
}) {
  const { state, problem, onChange } = props;
  const { fids = [], bans } = exclusionOf(state) ?? {};
  const others = bans === undefined ? {} : { bans };
  return (
    <details open={fids.length > 0 || bans === true}>
      <summary>{msg.butNotOf}</summary>
      <div class="fields">
        <PeopleField
          label={msg.users}
          name={EXCLUDED_PEOPLE}
          values={fids.map(String)}
          typed={state[0]?.typed?.[EXCLUDED_PEOPLE] ?? ""}
          onChange={(items, text) =>
            onChange(withExclusion(state, { ...others, fids: items.map(Number) }, text.trim()))
          }
          problem={problem}
        />
        <div class="checks">
          <Checkbox
            checked={bans === true}
            onChange={(isOn) =>
              onChange(
                withExclusion(
                  state,
                  { fids, ...(isOn ? { bans: true } : {}) },
                  state[0]?.typed?.[EXCLUDED_PEOPLE],
                ),
              )
            }
          >
            {msg.usersThatYouBan}
          </Checkbox>
        </div>
      </div>
    </details>
  );
}

/** Builds a subscription with forms or as JSON. */
export function FilterBuilder({ state, json, onChange, problems }: FilterBuilderProps) {
  const [isOpen, setOpen] = useState(false);
  const isJson = isOpen || json !== undefined;
  const change = (next: FilterState) => onChange(next, json);
  const free = EVENT_KINDS.filter((kind) => !state.some(({ kinds }) => kinds.includes(kind)));
  const problemsOf = (group: number) =>
    Object.fromEntries(
      problems.filter((one) => one.group === group).map(({ field, message }) => [field ?? "", message]),
    );
  return (
    <section class="card" aria-label={msg.filter}>
      <header>
        <h2 class="grow">{msg.whichEvents}</h2>
        <button
          type="button"
          class="btn"
          aria-pressed={isJson}
          onClick={() => {
            setOpen(!isJson);
            // Once the text is closed, the form applies.
            if (isJson) onChange(state, undefined);
          }}
        >
          {msg.json}
        </button>
      </header>
      <div class="pad stack">
        {isJson && <JsonView state={state} json={json} onChange={onChange} />}
        {state.map((group, at) => (
          <FilterGroup
            group={group}
            at={at}
            taken={state.flatMap((other, index) => (index === at ? [] : other.kinds))}
            problems={problemsOf(at)}
            onChange={(next) => change(state.map((one, index) => (index === at ? next : one)))}
            onRemove={state.length === 1 ? undefined : () => change(state.filter((_, index) => index !== at))}
            key={at}
          />
        ))}
        <Excluded state={state} problem={problemsOf(0)[EXCLUDED_PEOPLE]} onChange={change} />
        {free.length > 0 && (
          <p>
            <button
              type="button"
              class="btn"
              onClick={() => change([...state, { ...EMPTY_GROUP, exclude: exclusionOf(state) }])}
            >
              {msg.addAFilterForOtherKinds}
            </button>
          </p>
        )}
      </div>
    </section>
  );
}
