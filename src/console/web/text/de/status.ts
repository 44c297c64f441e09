import type { Rich, Value } from "../format.ts";

export const PAUSE = { sends: "Kampagnen anhalten", deliveries: "Zustellungen anhalten" } as const;
export const RESUME = { sends: "Kampagnen fortsetzen", deliveries: "Zustellungen fortsetzen" } as const;
export const notificationCampaigns = "Kampagnen mit Benachrichtigungen";
export const whilePausedNewCampaignsAreAccepted =
  "Neue Kampagnen werden dann angenommen und warten. Laufende halten zwischen zwei Paketen an.";
export const webhookDeliveries = "Zustellungen an Webhooks";
export const whilePausedEventsAreQueuedFor =
  "Ereignisse warten dann in der Warteschlange der Webhooks. Nichts geht verloren.";
export const paused = "angehalten";
export const running = "läuft";
export const by = (name: Rich, name2: Rich, time: Rich): Rich => [name, ", von ", name2, ", ", time];
export const reasonWhichEveryoneSees = "Grund, für alle sichtbar";
export const theReceiverMoves = "der Empfänger zieht um";
export const pauseAndResume = "Anhalten und fortsetzen";
export const isPaused = (name: Rich): Rich => [name, " angehalten"];
export const indexAndState = "Index und Zustand";
export const state = "Zustand";
export const index = "Index";
export const backups = "Sicherungen";
export const aBackupIsUnderWay = "Eine Sicherung läuft";
export const backUpNow = "Jetzt sichern";
export const aBackupHoldsTheStateApps = (keep: Value) =>
  `Eine Sicherung enthält den Zustand: Apps, Webhooks, Schlüssel, Zustellungen. Sie wird nach dem Schreiben geprüft. Der Index lässt sich neu aufbauen. Die letzten ${keep} von hier bleiben erhalten; geplante werden dafür nicht gelöscht.`;
export const theNextScheduledOneIsAt = (nextAt: Value) => ` Die nächste geplante ist am ${nextAt}.`;
export const started = "Begonnen";
export const outcome = "Ergebnis";
export const verified = "geprüft";
export const failed = "fehlgeschlagen";
export const directory = "Verzeichnis";
export const holds = "Enthält";
export const size = "Größe";
export const took = "Dauer";
export const deleted = "gemacht, inzwischen gelöscht";
export const damaged = "beschädigt";
export const check = "Prüfen";
export const checking = "Wird geprüft";
export const checkedAgo = (when: Rich): Rich => ["geprüft ", when];
export const download = "Herunterladen";
export const actions = "Aktionen";
export const theDownloadBegins = "Das Herunterladen beginnt.";
export const aDownloadHoldsSecrets =
  " Der Download ist ein Archiv in der gespeicherten Form. Ohne backup.encryption_key enthält er die Geheimnisse der Webhooks: Bewahre ihn so sicher auf wie die Festplatte des Knotens.";

export const searchTheLog = "Protokoll durchsuchen";
export const process = "Prozess";
export const resident = "belegt";
export const thisPageIsLocked = "Diese Seite ist gesperrt";
export const itDidNotOpen = "Sie hat sich nicht geöffnet:";
export const yourSessionIsOver = "Deine Sitzung ist beendet:";
export const theNodeHasStartedAgain =
  "Der Knoten ist wie gewünscht neu gestartet. Öffne diese Seite mit einem neuen Link.";
export const yourBrowserSignsRequestsOnlyOn = (code: Rich, code2: Rich): Rich => [
  "Dein Browser signiert Anfragen nur über https oder auf dem Rechner selbst. Öffne diesen Knoten unter seiner https-Adresse oder durch einen Tunnel: ",
  code,
  ", dann ",
  code2,
  ".",
];
export const thisPageShowsTheOperatorThe = (code: Rich, code2: Rich): Rich => [
  "Diese Seite zeigt dem Betreiber Threads, Protokoll, Einstellungen und Sicherungen dieses Knotens. Auf dem Rechner des Knotens, als der Benutzer, der ihn ausführt, und mit dessen Einstellungen (",
  code,
  " oder ",
  code2,
  "), gibt dieser Befehl einen Link aus, der die Seite einmal öffnet:",
];
export const fromAnotherMachineWithSetOn = (code: Rich): Rich => [
  "Von einem anderen Rechner, wenn auf beiden ",
  code,
  " gesetzt ist:",
];
export const theLinkIsValidForA =
  "Der Link gilt eine Minute, die Sitzung 12 Stunden oder bis zum Neustart des Knotens. Bei mehreren Knoten hinter einer Adresse öffne die Adresse des Knotens selbst: Eine Sitzung gehört zu einem von ihnen.";
export const isPublic = (link: Rich): Rich => [link, " ist öffentlich."];
export const theStatusOfTheNode = "Der Status des Knotens";
export const eventLoopDelayP99 = "Verzögerung der Ereignisschleife, p99";
export const cpuOfOneCore = "CPU, eines Kerns";
export const writeAheadLogs = "Write-Ahead-Logs";
export const nodeUpThisPageShowsThis = (node: Rich, uptimeSecs: Rich): Rich => [
  "Knoten ",
  node,
  ", läuft seit ",
  uptimeSecs,
  ". Diese Seite zeigt nur diesen Knoten.",
];
export const operator = "Betrieb";
export const status = "Status";
export const lock = "Sperren";
export const thisIsADemoNetworkSo = (code: Rich): Rich => [
  "Dies ist ein Demo-Netz, deshalb darf jeder zusehen. Um etwas zu ändern, öffne die Seite mit ",
  code,
  ".",
];

export const startStopStatus = "Start, Stopp, Status";
export const writesTheIndex = "schreibt den Index";
export const writesTheState = "schreibt den Zustand";
export const grpc = "gRPC";
export const filtersOfWebhooks = "Filter der Webhooks";
export const followsTheOtherNode = "folgt dem anderen Knoten";
export const trending = "Trends";
export const sweepsAndBackups = "Aufräumen und Sicherungen";
export const callsWebhooks = "ruft Webhooks auf";
export const sendsNotifications = "sendet Benachrichtigungen";
export const signsAndSubmits = "signiert und reicht ein";
export const none = "keiner";
export const threads = "Threads";
export const thread = "Thread";
export const servesRequests = "beantwortet Anfragen";
export const stateTitle = "Status";
export const doesNotRespond = "antwortet nicht";
export const busy = "ausgelastet";
export const ok = "ok";
export const delayP99 = "Verzögerung, p99";
export const longestDelay = "Längste Verzögerung";
export const heap = "Heap";
export const lastError = "Letzter Fehler";
export const diskAndLimits = "Festplatte und Grenzen";
export const theDiskHasAFault = "Die Festplatte hat einen Fehler.";
export const freeOnTheDisk = "Frei auf der Festplatte";
export const of = (totalBytes: Value) => `von ${totalBytes}`;
export const indexTitle = "Index";
export const log = (indexWalBytes: Value) => `Log ${indexWalBytes}`;
export const log2 = (stateWalBytes: Value) => `Log ${stateWalBytes}`;
export const memory = "Arbeitsspeicher";
export const ofACore = (cpuPercent: Value) => `${cpuPercent} % eines Kerns`;
export const usedOfMax = (part: Rich, part2: Rich): Rich => [part, " von ", part2];
export const logOfWarnings = "Warnungen";
export const noWarningsOrErrorsSinceThe = "Keine Warnungen oder Fehler seit dem Start.";
export const copyAll = "Alles kopieren";
export const settings = "Einstellungen";

export const n1Hour = "1 h";
export const lastHour = "Letzte Stunde";
export const n6Hours = "6 h";
export const last6Hours = "Letzte 6 Stunden";
export const n24Hours = "24 h";
export const n7Days = "7 Tage";
export const n30Days = "30 Tage";
export const last24Hours = "Letzte 24 Stunden";
export const timeRange = "Zeitraum";
export const history = "Verlauf";
export const theNodeHasJustStarted = (part: Rich): Rich => ["Der Knoten ist gerade gestartet: ", part];
export const theFirstPointOfTheseCurves = (stepSecs: Value) =>
  `der erste Punkt dieser Kurven kommt innerhalb von ${stepSecs}.`;
export const theseCurvesBeginAt = (nextAtSecs: Value) => `diese Kurven beginnen um ${nextAtSecs}.`;
export const noResponse = "Keine Antwort:";
export const theNodeHasNotRespondedTo = "der Knoten hat auf die letzte Anfrage nicht geantwortet";
export const theFiguresBelowAreOld = (now: Rich): Rich => ["Die Werte unten sind ", now, " alt. "];
export const thePageAsksAgainInS = (waitSecs: Value) => `Neuer Versuch in ${waitSecs} s.`;
export const thePageIsAsking = "Neuer Versuch läuft.";
export const askNow = "Jetzt versuchen";

export const now = "Jetzt";
export const theseAreItsLastFigures = "Dies sind seine letzten Werte.";
export const itHasNoPeopleAndNo = "Er hat weder Personen noch Casts und folgt keinem anderen Knoten.";
export const proveIt = (ready: Rich, command: Rich): Rich => [
  "Prüfe es nach: ",
  ready,
  " ist nur 200, solange der Zustand nachgewiesen ist, und ",
  command,
  " berechnet alles neu.",
];
export const upToDate = "Auf dem neuesten Stand.";
export const notTheNetworks = "nicht nachgewiesen";
export const provenAt = (height: Value, shard: Value, ago: Value, quorum: Value) =>
  `Nachgewiesen bei Höhe ${height} von Shard ${shard}, vor ${ago}${quorum}.`;
export const against = (signers: Value, validators: Value) =>
  `, gegen ${signers} von ${validators} Validatoren`;
export const blocksAreVerified = (quorum: Value) => `Jeder Block wird geprüft${quorum}.`;
export const stateIsComputed =
  "Sein Zustand wird berechnet und dann mit dem verglichen, den sie signiert haben.";
export const stateIsIncomplete =
  "Er wurde Person für Person gefüllt; das ergibt nicht alles, deshalb lässt sich sein ganzer Zustand nicht nachweisen.";
export const stateIsUnproven =
  "Sein Zustand ist nicht nachgewiesen: Noch keine Version hat einen ganzen Zustand dieses Netzes nachgewiesen, der Unterschied kann also eine hier unbekannte Regel sein.";
export const nodeIsBelieved =
  "Nicht nachgewiesen: Dem Knoten, dem er folgt, wird vertraut, und seine Blöcke werden nicht geprüft.";
export const stateDiffers = (shard: Value, height: Value) =>
  `Shard ${shard} hat seit Höhe ${height} einen anderen Zustand, als seine Validatoren signiert haben.`;
export const whatToDoAboutAnotherState = (service: Value) =>
  `Abweichende Konten werden neu gelesen. Wenn das nicht hilft, nennt „${service} verify --roots“, was diese Festplatte verloren hat.`;
export const validatorsAreUnknown = (shard: Value) =>
  `Shard ${shard} ist von Validatoren signiert, die diese Version nicht kennt.`;
export const whatToDoAboutUnknownValidators = (service: Value) =>
  `Aktualisiere ${service} oder setze trust.validators_file.`;
export const validatorsForked = (shard: Value, height: Value) =>
  `Validatoren haben für Höhe ${height} von Shard ${shard} zwei Blöcke signiert; er steht jetzt still.`;
export const whatToDoAboutAFork =
  "Frage die Betreiber des Netzes, welcher gilt, und verschiebe dann die Zertifikate aus „forks“ im Datenverzeichnis.";
export const accountsAreQuarantined = (accounts: Value) =>
  `Konten, die vom Zustand abweichen, den Validatoren signiert haben, und die kein Knoten reparieren konnte: ${accounts}.`;
export const whatToDoAboutQuarantinedAccounts =
  "Der Abschnitt „trust“ von /status führt sie auf. Füge upstream.urls einen Knoten hinzu; jedes wird nach einem Tag erneut versucht.";
export const stateIsStale = (shard: Value, ago: Value) =>
  `Seit ${ago} wurde kein Block von Shard ${shard} nachgewiesen.`;
export const whatToDoAboutAStaleProof =
  "Der Abschnitt „trust“ von /status nennt die Knoten, denen gefolgt wird, und wie viele Wurzeln noch zu berechnen sind.";
export const behindTheNodeThatItFollows = (lagSecs: Rich): Rich => [
  " ",
  lagSecs,
  " hinter dem Knoten, dem er folgt.",
];
export const demoNetwork = "Demo-Netz";
export const upVersion = (uptimeSecs: Rich, version: Rich, network: Rich): Rich => [
  "läuft seit ",
  uptimeSecs,
  " · Version ",
  version,
  " · ",
  network,
];
export const requestsPerSecond = "Anfragen pro Sekunde";
export const medianLatency = "Latenz (Median)";
export const p99Latency = "p99-Latenz";
export const messagesPerSecond = "Nachrichten pro Sekunde";
export const queues = "Warteschlangen";
export const what = "Was";
export const programsReadTheSameFromAnd = (
  more: Rich,
  nodePath: Rich,
  nodePath2: Rich,
  nodePath3: Rich,
  more2: Rich,
): Rich => [
  more,
  "Programme lesen dasselbe unter ",
  nodePath,
  ", ",
  nodePath2,
  " und ",
  nodePath3,
  ". ",
  more2,
];
export const theFiguresAreThoseOfNode = (node: Value) =>
  `Die Werte sind die des Knotens ${node}, im Speicher seit seinem Start. `;
export const doYouRunThisNodeAre = (link: Rich): Rich => [
  "Betreibst du diesen Knoten? ",
  link,
  " findest du auf der Betreiberseite.",
];
export const threadsLogSettingsAndBackups = "Threads, Protokoll, Einstellungen und Sicherungen";

export const SAID: Readonly<Record<string, string>> = {
  "open files": "offene Dateien",
  streams: "Streams",
  "index bytes": "Bytes des Index",
  "unsent response bytes": "noch nicht gesendete Antwort-Bytes",
  "set backup.dir to a directory, preferably on another disk":
    "setze backup.dir auf ein Verzeichnis, möglichst auf einer anderen Festplatte",
  "the state is in PostgreSQL: back it up with the tools of PostgreSQL":
    "der Zustand liegt in PostgreSQL: Sichere ihn mit dessen Werkzeugen",
};

export const FIGURES: Readonly<Record<string, string>> = {
  "Requests per second": "Anfragen pro Sekunde",
  requests: "Anfragen",
  "Response time": "Antwortzeit",
  median: "Median",
  p99: "p99",
  "4xx and 5xx per minute": "4xx und 5xx pro Minute",
  "errors (5xx)": "Fehler (5xx)",
  "refused (4xx)": "abgelehnt (4xx)",
  "Messages merged per second": "Verarbeitete Nachrichten pro Sekunde",
  "messages and events": "Nachrichten und Ereignisse",
  "Outgoing calls per second": "Ausgehende Aufrufe pro Sekunde",
  "push tokens": "Push-Tokens",
  "webhook attempts": "Versuche für Webhooks",
  Waiting: "Wartet",
  deliveries: "Zustellungen",
  events: "Ereignisse",
  messages: "Nachrichten",
  "Behind the followed node": "Rückstand zum Quellknoten",
  "How old the newest block here is.": "Wie alt der neueste Block hier ist.",
  "Deliveries to webhooks": "Zustellungen an Webhooks",
  "Queued, including retries that are not due yet.":
    "In der Warteschlange, auch Wiederholungen, die noch nicht fällig sind.",
  "Events to publish": "Ereignisse vor der Veröffentlichung",
  "Changes that webhooks have not been matched with.": "Änderungen, die noch kein Webhook gesehen hat.",
  "Oldest of them": "Das älteste davon",
  "How long the first of these events waits.": "Wie lange das erste dieser Ereignisse wartet.",
  "Oldest due": "Älteste fällige",
  "How long a delivery waits although its time has come.":
    "Wie lange eine Zustellung über ihre Zeit hinaus wartet.",
  "Pending writes": "Offene Schreibvorgänge",
  "Signed messages that the network has not confirmed.":
    "Signierte Nachrichten, die das Netz noch nicht bestätigt hat.",
  "Messages to index": "Nachrichten vor dem Index",
  "Accepted, and not yet in the index.": "Angenommen, aber noch nicht im Index.",
  "Notification campaigns": "Kampagnen",
  "Running or waiting to run.": "Laufen oder warten darauf.",
  "Open streams": "Offene Streams",
  "Readers of live events.": "Leser von Live-Ereignissen.",
};
