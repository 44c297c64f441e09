import { useEffect, useRef, useState } from "preact/hooks";
import type { SetUpFinding, SetUpState, SetUpStep, SetUpWish } from "../../setup/set-up.ts";
import { Field, Radios } from "../parts/form.tsx";
import { Pill } from "../parts/pill.tsx";
import { RawText } from "../parts/raw-text.tsx";
import { Card, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/tools/setup.ts";
import { saidIn, saidWith } from "../text/format.ts";
import { FurtherSettings } from "./further-settings.tsx";
import { EMPTY, type WishTexts, wishOf } from "./wish.ts";

const STEPS: Readonly<Record<SetUpStep, string>> = {
  test: msg.testTheNode,
  estimate: msg.estimate,
  check: msg.checkEverything,
  apply: msg.apply,
};
const LEVELS = {
  ok: ["ok", msg.ok],
  warn: ["warn", msg.warning],
  fail: ["bad", msg.failed],
} as const;

/** If several nodes are followed, their position is after the name of the check. */
const OF_NODE = / \d+$/;

/** Returns the node's texts in a step by line, in the page's language; undefined until they are loaded. */
function useSaid(): Readonly<Record<string, string>> | undefined {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>();
  useEffect(() => {
    const load = async () => {
      const all = await Promise.all([
        import("../text/en/tools/steps.ts").then(({ STEPS }) => STEPS),
        import("../text/en/tools/doctor.ts").then(({ DOCTOR }) => DOCTOR),
        import("../text/en/settings/rules.ts").then(({ RULES }) => RULES),
      ]);
      setTexts(Object.assign({}, ...all));
    };
    void load();
  }, []);
  return texts;
}

const linesWith = (texts: Readonly<Record<string, string>>, text: string) =>
  text
    .split("\n")
    .map((line) => saidWith(texts, line))
    .join("\n");

function Findings(props: { texts: Readonly<Record<string, string>>; findings: readonly SetUpFinding[] }) {
  const { texts, findings } = props;
  const nameOf = (check: string) =>
    `${saidIn(texts, check.replace(OF_NODE, ""))}${OF_NODE.exec(check)?.[0] ?? ""}`;
  return (
    <ul class="rows" aria-label={msg.findings}>
      {findings.map(({ check, level, text, advice }, at) => (
        <li class="record" key={at}>
          <p class="row wrap">
            <Pill kind={LEVELS[level][0]}>{LEVELS[level][1]}</Pill>
            <span class="grow s">
              <b>{nameOf(check)}</b> <bdi class="user">{saidWith(texts, text)}</bdi>
            </span>
          </p>
          {advice !== undefined && (
            <p class="s dim">
              <bdi class="user">{saidWith(texts, advice)}</bdi>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The findings of a step. */
function Found({ state, secs }: { state: SetUpState; secs: number }) {
  const { step, result, error } = state;
  const texts = useSaid();
  if (step === null) return null;
  if (state.is_running)
    return (
      <p class="s dim" role="status">
        {msg.working(STEPS[step], secs)}
      </p>
    );
  if (!texts) return <Skeleton rows={4} />;
  if (error !== null)
    return (
      <p class="failure user" role="alert">
        {linesWith(texts, error)}
      </p>
    );
  return (
    <div class="card stack">
      {result?.cost !== undefined && (
        <RawText text={linesWith(texts, result.cost.trimEnd())} label={msg.whatItCosts} />
      )}
      {result?.findings && <Findings texts={texts} findings={result.findings} />}
      {result?.note !== undefined && (
        <p class="s">
          {msg.itGoesIntoTheDataDirectory(<bdi class="user">{saidWith(texts, result.note)}</bdi>)}
        </p>
      )}
      {result?.files?.length === 0 && <p class="s">{msg.noSettingsAreWritten}</p>}
      {result?.files?.map(({ path, text }) => (
        <div key={path}>
          <p class="s">{msg.itWillWrite(<code class="user">{path}</code>)}</p>
          <RawText text={text} label={path} />
        </div>
      ))}
    </div>
  );
}

/** The form of an empty node: its source, its scope, the checks. */
export function WishForm(props: {
  state: SetUpState;
  /** How long the current step has taken. */
  secs: number;
  onStep: (step: SetUpStep, wish: SetUpWish) => void;
}) {
  const { state, secs, onStep } = props;
  const [texts, setTexts] = useState<WishTexts>(EMPTY);
  const [checked, setChecked] = useState<string>();
  const [isTried, setTried] = useState(false);
  const { wish, problems } = wishOf(texts);
  const shown = isTried ? problems : {};
  const set = (change: Partial<WishTexts>) => setTexts({ ...texts, ...change });
  // Newly shown fields have no problem before the next step.
  const choose = (change: Partial<WishTexts>) => {
    setTried(false);
    set(change);
  };
  const key = JSON.stringify(wish);
  const isChecked = checked === key && state.step === "check" && state.result !== null;
  // The node keeps only the results of the last step. Those of other steps stay next to their buttons as long as the form does not
  // change.
  const results = useRef(new Map<SetUpStep, { readonly about: string; readonly state?: SetUpState }>());
  const last = useRef<SetUpState>(undefined);
  const { source, nodes, scope, fids, channel, person, fidFile, records, ...further } = texts;
  const about = (name: SetUpStep) => {
    const ofNodes = [source, nodes];
    const ofScope = [...ofNodes, scope, fids, channel, person, fidFile, records];
    return JSON.stringify(name === "test" ? ofNodes : name === "estimate" ? ofScope : [ofScope, further]);
  };
  const slot = (name: SetUpStep) => (name === "apply" ? "check" : name);
  if (state.step !== null && state !== last.current) {
    last.current = state;
    const before = results.current.get(slot(state.step));
    results.current.set(slot(state.step), { about: before?.about ?? about(state.step), state });
  }
  const step = (name: SetUpStep) => () => {
    setTried(true);
    if (!wish || state.is_running) return;
    if (name === "check") setChecked(key);
    results.current.set(slot(name), { about: about(name) });
    onStep(name, wish);
  };
  const button = (name: SetUpStep, kind = "") => (
    <button type="button" class={`btn ${kind}`} aria-disabled={state.is_running} onClick={step(name)}>
      {STEPS[name]}
    </button>
  );
  const found = (name: SetUpStep) => {
    const result = results.current.get(name);
    return result?.state && result.about === about(name) && <Found state={result.state} secs={secs} />;
  };
  return (
    <div class="stack">
      <Card title={msg.whatShouldItBe}>
        <Radios
          name="source"
          options={[
            ["follow", msg.followANode],
            ["demo", msg.demo],
            ["import", msg.importAFile],
          ]}
          value={texts.source}
          onChange={(source) => choose({ source })}
        />
        {texts.source === "follow" && (
          <>
            <p class="s dim">{msg.itCopiesAndFollows}</p>
            <Field
              label={msg.nodeToFollow}
              name="nodes"
              value={texts.nodes}
              hint={msg.hostAndPort}
              problem={shown.nodes}
              onInput={(nodes) => set({ nodes })}
            />
            <p>{button("test")}</p>
            {found("test")}
          </>
        )}
        {texts.source === "demo" && <p class="s dim">{msg.aSmallNetwork}</p>}
        {texts.source === "import" && (
          <>
            <p class="s dim">{msg.itReadsRecords}</p>
            <Field
              label={msg.fileOfRecords}
              name="records"
              value={texts.records}
              hint={msg.onTheMachineOfTheNode}
              problem={shown.records}
              onInput={(records) => set({ records })}
            />
            <p>{button("estimate")}</p>
            {found("estimate")}
          </>
        )}
      </Card>
      {texts.source === "follow" && (
        <Card title={msg.whoseData}>
          <Radios
            name="scope"
            options={[
              ["all", msg.everyone],
              ["fids", msg.someFids],
              ["channel", msg.channel],
              ["followers", msg.followers],
              ["file", msg.fileOfFids],
            ]}
            value={texts.scope}
            onChange={(scope) => choose({ scope })}
          />
          {texts.scope === "fids" && (
            <Field
              label={msg.fidsSeparated}
              name="fids"
              rows={3}
              value={texts.fids}
              problem={shown.fids}
              onInput={(fids) => set({ fids })}
            />
          )}
          {texts.scope === "channel" && (
            <Field
              label={msg.channelName}
              name="channel"
              value={texts.channel}
              problem={shown.channel}
              onInput={(channel) => set({ channel })}
            />
          )}
          {texts.scope === "followers" && (
            <Field
              label={msg.fidOfThePerson}
              name="person"
              value={texts.person}
              problem={shown.person}
              onInput={(person) => set({ person })}
            />
          )}
          {texts.scope === "file" && (
            <Field
              label={msg.pathOfFids}
              name="fid-file"
              value={texts.fidFile}
              hint={msg.onTheMachineOfTheNode}
              problem={shown.fidFile}
              onInput={(fidFile) => set({ fidFile })}
            />
          )}
          <p>{button("estimate")}</p>
          {found("estimate")}
        </Card>
      )}
      {texts.source !== "demo" && <FurtherSettings texts={texts} problems={shown} onChange={set} />}
      <Card title={msg.checksFirst}>
        <p class="s dim">{msg.theChangeIsShownFirst}</p>
        <div class="row wrap">
          {button("check", isChecked ? "" : "go")}
          {isChecked && (
            <button type="button" class="btn go" onClick={step("apply")}>
              {texts.source === "demo" ? msg.startTheDemo : msg.apply}
            </button>
          )}
        </div>
        {found("check")}
      </Card>
    </div>
  );
}
