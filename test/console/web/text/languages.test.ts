import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sentenceOf } from "../../../../src/checks/check.ts";
import { OWNER_CHECKS } from "../../../../src/checks/owners/owner-table.ts";
import { RESOLUTIONS, resolutionOf } from "../../../../src/checks/resolution.ts";
import { CHECK_TABLE } from "../../../../src/checks/table.ts";
import { settingMeanings } from "../../../../src/config/load.ts";
import { settings } from "../../../../src/config/settings/settings.ts";
import { preferredLanguage } from "../../../../src/console/assets.ts";
import type * as deChannels from "../../../../src/console/web/text/de/channels.ts";
import type * as deChecks from "../../../../src/console/web/text/de/checks.ts";
import { CHECKS } from "../../../../src/console/web/text/de/checks.ts";
import type * as deCommon from "../../../../src/console/web/text/de/common.ts";
import type * as deDemo from "../../../../src/console/web/text/de/demo/demo.ts";
import type * as deStory from "../../../../src/console/web/text/de/demo/story.ts";
import type * as deErrors from "../../../../src/console/web/text/de/errors.ts";
import { ERRORS } from "../../../../src/console/web/text/de/errors.ts";
import type * as deExplore from "../../../../src/console/web/text/de/explore.ts";
import type * as deIncidents from "../../../../src/console/web/text/de/incidents.ts";
import { TITLES } from "../../../../src/console/web/text/de/incidents.ts";
import type * as deLanding from "../../../../src/console/web/text/de/landing.ts";
import type * as deApps from "../../../../src/console/web/text/de/manage/apps.ts";
import type * as deLogin from "../../../../src/console/web/text/de/manage/login.ts";
import type * as deManage from "../../../../src/console/web/text/de/manage/manage.ts";
import type * as deOwner from "../../../../src/console/web/text/de/manage/owner.ts";
import type * as deSchedules from "../../../../src/console/web/text/de/manage/schedules.ts";
import type * as deSessions from "../../../../src/console/web/text/de/manage/sessions.ts";
import type * as deSigners from "../../../../src/console/web/text/de/manage/signers.ts";
import type * as deWebhooks from "../../../../src/console/web/text/de/manage/webhooks.ts";
import type * as deMoment from "../../../../src/console/web/text/de/moment.ts";
import { asTyped } from "../../../../src/console/web/text/de/moment.ts";
import type * as deNotices from "../../../../src/console/web/text/de/operator/notices.ts";
import type * as deSettings from "../../../../src/console/web/text/de/operator/settings.ts";
import type * as deDocuments from "../../../../src/console/web/text/de/outside/documents.ts";
import type * as deSignIn from "../../../../src/console/web/text/de/outside/sign-in.ts";
import type * as deParts from "../../../../src/console/web/text/de/parts.ts";
import type * as deAppSettings from "../../../../src/console/web/text/de/settings/apps.ts";
import { APPS } from "../../../../src/console/web/text/de/settings/apps.ts";
import type * as deFollowing from "../../../../src/console/web/text/de/settings/following.ts";
import { FOLLOWING } from "../../../../src/console/web/text/de/settings/following.ts";
import type * as deOperating from "../../../../src/console/web/text/de/settings/operating.ts";
import { OPERATING } from "../../../../src/console/web/text/de/settings/operating.ts";
import type * as deRules from "../../../../src/console/web/text/de/settings/rules.ts";
import { RULES } from "../../../../src/console/web/text/de/settings/rules.ts";
import type * as deServing from "../../../../src/console/web/text/de/settings/serving.ts";
import { SERVING } from "../../../../src/console/web/text/de/settings/serving.ts";
import type * as deStatus from "../../../../src/console/web/text/de/status.ts";
import { FIGURES, SAID } from "../../../../src/console/web/text/de/status.ts";
import type * as deStream from "../../../../src/console/web/text/de/stream.ts";
import type * as deTime from "../../../../src/console/web/text/de/time.ts";
import { agoOf, days, inTime } from "../../../../src/console/web/text/de/time.ts";
import type * as deCall from "../../../../src/console/web/text/de/tools/call.ts";
import type * as deDoctor from "../../../../src/console/web/text/de/tools/doctor.ts";
import { DOCTOR } from "../../../../src/console/web/text/de/tools/doctor.ts";
import type * as deHelp from "../../../../src/console/web/text/de/tools/help.ts";
import type * as deSetup from "../../../../src/console/web/text/de/tools/setup.ts";
import type * as deSteps from "../../../../src/console/web/text/de/tools/steps.ts";
import type * as enChannels from "../../../../src/console/web/text/en/channels.ts";
import type * as enChecks from "../../../../src/console/web/text/en/checks.ts";
import type * as enCommon from "../../../../src/console/web/text/en/common.ts";
import type * as enDemo from "../../../../src/console/web/text/en/demo/demo.ts";
import type * as enStory from "../../../../src/console/web/text/en/demo/story.ts";
import type * as enErrors from "../../../../src/console/web/text/en/errors.ts";
import type * as enExplore from "../../../../src/console/web/text/en/explore.ts";
import type * as enIncidents from "../../../../src/console/web/text/en/incidents.ts";
import type * as enLanding from "../../../../src/console/web/text/en/landing.ts";
import type * as enApps from "../../../../src/console/web/text/en/manage/apps.ts";
import type * as enLogin from "../../../../src/console/web/text/en/manage/login.ts";
import type * as enManage from "../../../../src/console/web/text/en/manage/manage.ts";
import type * as enOwner from "../../../../src/console/web/text/en/manage/owner.ts";
import type * as enSchedules from "../../../../src/console/web/text/en/manage/schedules.ts";
import type * as enSessions from "../../../../src/console/web/text/en/manage/sessions.ts";
import type * as enSigners from "../../../../src/console/web/text/en/manage/signers.ts";
import type * as enWebhooks from "../../../../src/console/web/text/en/manage/webhooks.ts";
import type * as enMoment from "../../../../src/console/web/text/en/moment.ts";
import type * as enNotices from "../../../../src/console/web/text/en/operator/notices.ts";
import type * as enSettings from "../../../../src/console/web/text/en/operator/settings.ts";
import type * as enDocuments from "../../../../src/console/web/text/en/outside/documents.ts";
import type * as enSignIn from "../../../../src/console/web/text/en/outside/sign-in.ts";
import type * as enParts from "../../../../src/console/web/text/en/parts.ts";
import type * as enAppSettings from "../../../../src/console/web/text/en/settings/apps.ts";
import type * as enFollowing from "../../../../src/console/web/text/en/settings/following.ts";
import type * as enOperating from "../../../../src/console/web/text/en/settings/operating.ts";
import type * as enRules from "../../../../src/console/web/text/en/settings/rules.ts";
import type * as enServing from "../../../../src/console/web/text/en/settings/serving.ts";
import type * as enStatus from "../../../../src/console/web/text/en/status.ts";
import type * as enStream from "../../../../src/console/web/text/en/stream.ts";
import type * as enTime from "../../../../src/console/web/text/en/time.ts";
import type * as enCall from "../../../../src/console/web/text/en/tools/call.ts";
import type * as enDoctor from "../../../../src/console/web/text/en/tools/doctor.ts";
import type * as enHelp from "../../../../src/console/web/text/en/tools/help.ts";
import type * as enSetup from "../../../../src/console/web/text/en/tools/setup.ts";
import type * as enSteps from "../../../../src/console/web/text/en/tools/steps.ts";
import { localValue, saidWith } from "../../../../src/console/web/text/format.ts";
import { typedTime } from "../../../../src/lib/iso-time.ts";
import { configWith } from "../../../runtime/config.ts";
import { textsIn } from "../../../support/source-texts.ts";

/** The same texts in other words: a missing one, or one with other parameters, is a type error. */
type InOtherWords<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Made
    ? (...values: Values) => InOtherWords<Made>
    : T extends object
      ? { readonly [Key in keyof T]: InOtherWords<T[Key]> }
      : T;
type Complete<Source, Other extends InOtherWords<Source>> = keyof Other;

/** Each file of the second language. Another one is a line here. */
export type Texts = [
  Complete<typeof enChannels, typeof deChannels>,
  Complete<typeof enChecks, typeof deChecks>,
  Complete<typeof enCommon, typeof deCommon>,
  Complete<typeof enDemo, typeof deDemo>,
  Complete<typeof enExplore, typeof deExplore>,
  Complete<typeof enHelp, typeof deHelp>,
  Complete<typeof enLanding, typeof deLanding>,
  Complete<typeof enManage, typeof deManage>,
  Complete<typeof enOwner, typeof deOwner>,
  Complete<typeof enSessions, typeof deSessions>,
  Complete<typeof enSigners, typeof deSigners>,
  Complete<typeof enIncidents, typeof deIncidents>,
  Complete<typeof enLogin, typeof deLogin>,
  Complete<typeof enWebhooks, typeof deWebhooks>,
  Complete<typeof enNotices, typeof deNotices>,
  Complete<typeof enSettings, typeof deSettings>,
  Complete<typeof enMoment, typeof deMoment>,
  Complete<typeof enParts, typeof deParts>,
  Complete<typeof enStatus, typeof deStatus>,
  Complete<typeof enStory, typeof deStory>,
  Complete<typeof enStream, typeof deStream>,
  Complete<typeof enDocuments, typeof deDocuments>,
  Complete<typeof enSignIn, typeof deSignIn>,
  Complete<typeof enApps, typeof deApps>,
  Complete<typeof enSchedules, typeof deSchedules>,
  Complete<typeof enCall, typeof deCall>,
  Complete<typeof enSetup, typeof deSetup>,
  Complete<typeof enSteps, typeof deSteps>,
  Complete<typeof enErrors, typeof deErrors>,
  Complete<typeof enTime, typeof deTime>,
  Complete<typeof enDoctor, typeof deDoctor>,
  Complete<typeof enServing, typeof deServing>,
  Complete<typeof enFollowing, typeof deFollowing>,
  Complete<typeof enAppSettings, typeof deAppSettings>,
  Complete<typeof enOperating, typeof deOperating>,
  Complete<typeof enRules, typeof deRules>,
];

const SRC = join(import.meta.dir, "../../../../src");
const TEXTS = join(SRC, "console/web/text");
const filesOf = (language: string) => [...new Bun.Glob("**/*.ts").scanSync(join(TEXTS, language))].toSorted();

test("console-next 9: each file of texts is translated, and a translation has no text of its own", async () => {
  expect(filesOf("de")).toEqual(filesOf("en"));
  const checked = await Bun.file(import.meta.path).text();
  for (const file of filesOf("de")) {
    expect(checked).toContain(`text/de/${file}"`);
    const [en, de] = await Promise.all(["en", "de"].map((one) => import(join(TEXTS, one, file))));
    expect([file, ...Object.keys(de).toSorted()]).toEqual([file, ...Object.keys(en).toSorted()]);
  }
});

test.each([
  [null, "en"],
  ["de", "de"],
  ["de-AT,de;q=0.9,en;q=0.8", "de"],
  ["en;q=0.5, de;q=0.9", "de"],
  ["fr, en-GB;q=0.9, de;q=0.8", "en"],
  ["de;q=0, fr", "en"],
  ["*", "en"],
  ["constructor, de;q=0.1", "de"],
] as const)("a browser that accepts %p gets %s", (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});

test("what the node sends by name has a German text: figures, checks, and errors by their code", async () => {
  const sources = await Promise.all(
    [...new Bun.Glob("**/*.ts").scanSync(SRC)]
      .filter((path) => !path.startsWith("console/web/"))
      .map((path) => Bun.file(join(SRC, path)).text()),
  );
  const source = sources.join("\n");
  const curves = [...source.matchAll(/\bplot: \{\s*title: "([^"]+)",\s*label: "([^"]+)"/g)];
  const queues = [...source.matchAll(/\bqueue: \{\s*label: "([^"]+)",\s*words: "([^"]+)"/g)];
  const figures = [...curves, ...queues].flatMap(([, ...names]) => names);
  expect(figures.length).toBeGreaterThan(20);
  expect(figures.filter((name) => !(name in FIGURES))).toEqual([]);
  expect(Object.keys(FIGURES).filter((name) => !figures.includes(name))).toEqual([]);
  const limits = [...source.matchAll(/\{ name: "([^"]+)", used: /g)].map(([, name]) => name);
  expect(limits).toHaveLength(4);
  expect(Object.keys(SAID)).toEqual(expect.arrayContaining(limits));
  expect(Object.keys(SAID).filter((text) => !source.includes(`"${text}"`))).toEqual([]);
  expect(checks.map(({ title }) => title).toSorted()).toEqual(Object.keys(TITLES).toSorted());
  expect(Object.keys(ERRORS).filter((code) => !source.includes(`"${code}"`))).toEqual([]);
});

/** Of nodes and of owners' records. */
const checks = [...CHECK_TABLE, ...OWNER_CHECKS];

const valuesOf = (text: string) => text.match(/\{\}/g)?.length ?? 0;

test("each sentence of an incident, with what was measured, when it resolves, and what to do have a German text", () => {
  const form = (text: string) => text.replaceAll(/\{\{.*?\}\}/g, "{}");
  const forms = [
    ...checks.flatMap(({ sentence, remedy, resolution = [] }) => [sentence, remedy].concat(resolution)),
    ...RESOLUTIONS,
  ].map(form);
  expect(Object.keys(CHECKS).toSorted()).toEqual([...new Set(forms)].toSorted());
  for (const [english, german] of Object.entries(CHECKS)) expect(valuesOf(german)).toBe(valuesOf(english));
  for (const check of checks) {
    const sentence = sentenceOf(check, {
      value: 0.5,
      labels: {
        ...{ part: "hub", key: "http.host", position: "2" },
        ...{ host: "a.example", failed: "7", total: "9", prefix: "svc_1", fid: "3" },
      },
    });
    expect(saidWith(CHECKS, sentence)).not.toBe(sentence);
  }
  for (const { id } of checks) {
    const resolution = resolutionOf(id, configWith().checks) ?? "";
    expect([resolution, saidWith(CHECKS, resolution)]).toEqual([resolution, expect.stringMatching(/^Endet/)]);
  }
  expect(saidWith(CHECKS, "The index is 12 min behind the network.")).toBe(
    "Der Index liegt 12 min hinter dem Netz.",
  );
});

test("each setting has a German meaning, and its valid values German words", () => {
  const meanings = { ...SERVING, ...FOLLOWING, ...APPS, ...OPERATING };
  const keys = settings.map(({ key }) => key);
  expect(Object.keys(meanings).toSorted()).toEqual(keys.toSorted());
  const english = settingMeanings();
  expect(keys.filter((key) => meanings[key] === english.get(key))).toEqual([]);
  // Bounds that a meaning states are the same in both languages.
  const numbers = (text = "") => (text.match(/\b\d{3,}\b/g) ?? []).toSorted();
  expect(keys.filter((key) => !Bun.deepEquals(numbers(meanings[key]), numbers(english.get(key))))).toEqual(
    [],
  );
  const rules = [...new Set(settings.map(({ rule }) => rule))];
  expect(rules.filter((rule) => saidWith(RULES, rule) === rule)).toEqual([]);
  for (const [form, german] of Object.entries(RULES)) expect(valuesOf(german)).toBe(valuesOf(form));
  expect(saidWith(RULES, "an integer from 1 to 600")).toBe("eine ganze Zahl von 1 bis 600");
});

/** Texts of the doctor's files that no finding has as its own: names of files, patterns, and what reads the same in German. */
const NO_FINDING = [
  " and ",
  "doctor-{}.tmp",
  "/proc/{}/limits",
  "older format",
  "svc state migrate",
  "there are no scopes",
];
/** Where findings are made, and the risks among them. */
const DOCTOR_FILES = ["cli/doctor/*.ts", "config/checks/risks.ts"];
/** The command itself, and the place, which say nothing of their own. */
const NOT_OF_PAGE = /doctor\/(doctor|place)\.ts$/;

test("each finding of the doctor, and what it advises, has a German text", async () => {
  const paths = DOCTOR_FILES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(SRC)]).filter(
    (path) => !NOT_OF_PAGE.test(path),
  );
  const sources = await Promise.all(paths.map((path) => Bun.file(join(SRC, path)).text()));
  const texts = sources.flatMap((source) => textsIn(source.replaceAll(/^import .*$/gm, "")));
  const sentences = texts.filter(
    (text) => /[a-z]{3,}.* | .*[a-z]{3,}/.test(text) && !NO_FINDING.includes(text),
  );
  expect(sentences.length).toBeGreaterThan(100);
  expect(
    sentences.filter((text) => !(text in DOCTOR) && /[a-z]{3,}/.test(text.replaceAll("{}", ""))),
  ).toEqual([]);
  const names = sources.flatMap((source) =>
    [...source.matchAll(/(?:check = |CHECK = |name: |(?:ok|warn|fail)\()"([^"]+)"/g)].map(
      ([, name]) => name ?? "",
    ),
  );
  expect(names.filter((name) => !(name in DOCTOR))).toEqual([]);
  for (const [form, german] of Object.entries(DOCTOR))
    expect([form, valuesOf(german)]).toEqual([form, valuesOf(form)]);
});

test.each([
  ["5,000 MB free for /data", "5.000 MB frei für /data"],
  ["sync 1.0 ms, writes 12,345 MB/s", "Sync 1,0 ms, schreibt 12.345 MB/s"],
  [
    "512 MB available; may be too little for 2 HTTP workers while the index is filled",
    "512 MB verfügbar; beim Füllen des Index vielleicht zu wenig für 2 HTTP-Worker",
  ],
  ["about 9 MB, and 12 MB while it is filled; 40 MB free", "etwa 9 MB, und 12 MB beim Füllen; 40 MB frei"],
  ["valid, from the defaults (no file)", "gültig, aus den Standardwerten (keine Datei)"],
  [
    "http://node.example:3383 is a node of version 0.14.0 with 2 shards, responded in 12 ms",
    "http://node.example:3383 ist ein Knoten der Version 0.14.0 mit 2 Shards und hat nach 12 ms geantwortet",
  ],
  [
    "4 in flight and 20 a second, at a public address; filling an index of the whole network from it is refused",
    "4 gleichzeitig und 20 je Sekunde, an einer öffentlichen Adresse; aus ihm einen Index des ganzen Netzes zu füllen wird abgelehnt",
  ],
  [
    "this machine is 400 s behind the followed node: signed requests are refused",
    "dieser Rechner geht 400 s hinter dem Quellknoten: Signierte Anfragen werden abgelehnt",
  ],
  [
    "/data/index.db: current version, small tables intact",
    "/data/index.db: aktuelle Version, kleine Tabellen unbeschädigt",
  ],
])("the finding “%s” is German on a German page", (english, german) => {
  expect(saidWith(DOCTOR, english, (value) => localValue(value, "de"))).toBe(german);
});

test.each(["3383", "10.0.0.1", "0.14.0", "5,000,00 MB", "/data/1.5 GB", "1.5:3383"])(
  "%s in a finding is not a number with separators",
  (value) => {
    expect(localValue(value, "de")).toBe(value);
  },
);

describe("times in German", () => {
  test("a distance in a sentence has the dative", () => {
    expect([1, 3].map((count) => agoOf(days(count)))).toEqual(["vor 1 Tag", "vor 3 Tagen"]);
    expect(inTime("5 min")).toBe("in 5 min");
  });

  const now = Date.UTC(2026, 10, 23, 15);
  test.each([
    ["gestern 14:00", "yesterday 14:00"],
    ["Gestern um 14:00 Uhr", "yesterday 14:00"],
    ["vor 2 h", "2 h ago"],
    ["vor 3 Tagen", "3 d ago"],
    ["2 Stunden", "2 h"],
    ["03:12", "03:12"],
    ["yesterday 14:00", "yesterday 14:00"],
  ])("%s is read as %s", (german, english) => {
    expect(typedTime(asTyped(german), now)).toBe(typedTime(english, now) ?? 0);
  });
});
