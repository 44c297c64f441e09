import { useState } from "preact/hooks";
import type { SetUpFinding, SetUpState, SetUpStep, SetUpWish } from "../../setup/set-up.ts";
import { pageConfig } from "../page-config.ts";
import { readFidList } from "../parts/fields.ts";
import { Field, Radios } from "../parts/form.tsx";
import { Pill } from "../parts/pill.tsx";
import { Command, RawText } from "../parts/raw-text.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/tools/setup.ts";
import { FurtherSettings, type FurtherTexts, furtherOf, NO_FURTHER } from "./further-settings.tsx";

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

function Findings({ findings }: { findings: readonly SetUpFinding[] }) {
  return (
    <ul class="rows" aria-label={msg.findings}>
      {findings.map(({ check, level, text, advice }, at) => (
        <li class="record" key={at}>
          <p class="row wrap">
            <Pill kind={LEVELS[level][0]}>{LEVELS[level][1]}</Pill>
            <span class="grow s">
              <b>{check}</b> <bdi class="user">{text}</bdi>
            </span>
          </p>
          {advice !== undefined && (
            <p class="s dim">
              <bdi class="user">{advice}</bdi>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What the last step has found. */
function Found({ state, secs }: { state: SetUpState; secs: number }) {
  const { step, result, error } = state;
  if (step === null) return null;
  if (state.is_running)
    return (
      <p class="s dim" role="status">
        {msg.working(STEPS[step], secs)}
      </p>
    );
  if (error !== null)
    return (
      <p class="failure user" role="alert">
        {error}
      </p>
    );
  return (
    <div class="card stack">
      {result?.cost !== undefined && <RawText text={result.cost.trimEnd()} label={msg.whatItCosts} />}
      {result?.findings && <Findings findings={result.findings} />}
      {result?.problem && (
        <div class="failure" role="alert">
          <p>
            <b>{msg.theNodeCannotWrite}</b> <bdi class="user">{result.problem.message}</bdi>
          </p>
          <RawText text={result.problem.lines} label={msg.theNodeCannotWrite} />
        </div>
      )}
      {!result?.problem &&
        result?.files?.map(({ path, text }) => (
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
  /** How long the step under way has taken. */
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
  // Fields that appear have no problem before the next step.
  const choose = (change: Partial<WishTexts>) => {
    setTried(false);
    set(change);
  };
  const key = JSON.stringify(wish);
  const isChecked =
    checked === key && state.step === "check" && state.result !== null && !state.result.problem;
  const step = (name: SetUpStep) => () => {
    setTried(true);
    if (!wish || state.is_running) return;
    if (name === "check") setChecked(key);
    onStep(name, wish);
  };
  const button = (name: SetUpStep, kind = "") => (
    <button type="button" class={`btn ${kind}`} aria-disabled={state.is_running} onClick={step(name)}>
      {STEPS[name]}
    </button>
  );
  /** What a step has found, beside its button. */
  const found = (...names: readonly SetUpStep[]) =>
    state.step !== null && names.includes(state.step) && <Found state={state} secs={secs} />;
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
            <p class="s">{msg.stopTheNodeAndRun}</p>
            <Command text={`${pageConfig.service} import FILE`} />
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
          <p>{button("estimate")}</p>
          {found("estimate")}
        </Card>
      )}
      {texts.source === "follow" && <FurtherSettings texts={texts} problems={shown} onChange={set} />}
      {texts.source !== "import" && (
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
          {found("check", "apply")}
        </Card>
      )}
    </div>
  );
}

type ScopeKind = Exclude<SetUpWish["scope"]["kind"], "demo">;

/** What is typed into the form of the set-up. */
interface WishTexts extends FurtherTexts {
  readonly source: "follow" | "demo" | "import";
  readonly nodes: string;
  readonly scope: ScopeKind;
  readonly fids: string;
  readonly channel: string;
  readonly person: string;
}

const EMPTY: WishTexts = {
  source: "follow",
  nodes: "",
  scope: "all",
  fids: "",
  channel: "",
  person: "",
  ...NO_FURTHER,
};

type WishProblems = Partial<
  Readonly<Record<"nodes" | "fids" | "channel" | "person" | keyof FurtherTexts, string>>
>;

const DEFAULT_PORT = 3383;

/** `host`, `host:port` or a URL as the URL of a node; undefined for anything else. */
function nodeUrl(text: string): string | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  if (url.username !== "" || url.search !== "" || url.hash !== "" || url.pathname !== "/") return undefined;
  const hasPort = /:\d+\/?$/.test(text);
  return hasPort || url.protocol === "https:" ? url.origin : `${url.origin}:${DEFAULT_PORT}`;
}

/** What is wanted, or what is wrong with it by field. */
function wishOf(texts: WishTexts): { readonly wish?: SetUpWish; readonly problems: WishProblems } {
  if (texts.source === "demo") return { wish: { scope: { kind: "demo" }, urls: [] }, problems: {} };
  const words = texts.nodes.split(/\s+/).filter((word) => word !== "");
  const urls = words.flatMap((word) => nodeUrl(word) ?? []);
  const nodes = words.length === 0 ? msg.required : urls.length < words.length ? msg.aHostAndPort : undefined;
  const fids = readFidList(texts.fids);
  const person = readFidList(texts.person);
  const channel = texts.channel.trim();
  const further = furtherOf(texts);
  const problems: WishProblems = {
    ...(nodes !== undefined && { nodes }),
    ...(texts.scope === "fids" &&
      (fids.bad !== undefined || fids.fids.length === 0) && { fids: msg.fidsAreNumbers }),
    ...(texts.scope === "channel" && (channel === "" || /\s/.test(channel)) && { channel: msg.required }),
    ...(texts.scope === "followers" &&
      (person.bad !== undefined || person.fids.length !== 1) && { person: msg.fidsAreNumbers }),
    ...further.problems,
  };
  if (Object.keys(problems).length > 0) return { problems };
  const scopes: Readonly<Record<ScopeKind, SetUpWish["scope"]>> = {
    all: { kind: "all" },
    fids: { kind: "fids", fids: fids.fids },
    channel: { kind: "channel", channel },
    followers: { kind: "followers", fid: person.fids[0] ?? 0 },
  };
  return { wish: { scope: scopes[texts.scope], urls, settings: further.settings }, problems };
}
