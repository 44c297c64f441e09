import { formatCount, type Rich, type Value } from "../../format.ts";

export const setUpYourNode = "Richte deinen Knoten ein";
export const notSetUpYet = "Dieser Knoten ist noch nicht eingerichtet";
export const onlyTheOperatorSetsItUp =
  "Nur sein Betreiber richtet ihn ein. Dieser Befehl auf dem Rechner des Knotens gibt den Link aus, der diese Seite einmal öffnet:";
export const itDidNotOpen = "Er hat sie nicht geöffnet:";
export const yourBrowserSignsOnlyOn = (command: Rich): Rich => [
  "Dein Browser signiert Anfragen nur über https und auf diesem Rechner. Leite den Port weiter und öffne den Link dort: ",
  command,
];
export const theNodeHasData = "Dieser Knoten ist eingerichtet";
export const seeItsSettings = (link: Rich): Rich => ["Wem er folgt, änderst du auf der ", link, "."];
export const orFeedIt = (link: Rich): Rich => [
  "Ein Knoten, der Nachrichten über gRPC bekommt, braucht keine Einrichtung. Weiter geht es auf der ",
  link,
  ".",
];
export const theOperatorsPage = "Betreiberseite";
export const theNodeStartsAgain =
  "Der Knoten startet mit seinen Einstellungen neu. Das dauert ein paar Sekunden.";
export const itRunsAndIsEmpty =
  "Der Knoten läuft wieder. Was er hat, erscheint hier; erscheint nichts, sagt sein Log, was er abgelehnt hat.";
export const itImports = (percent: Value) => `Er importiert die Datei: ${percent} %`;
export const itBuilds = (percent: Value) => `Er hat die Datei gelesen und baut den Index: ${percent} %`;
export const itOpensItsIndex = "Er hat die Daten und öffnet seinen Index. Das dauert einige Sekunden.";
export const starting = "Startet";
export const importing = "Importiert";
export const building = "Baut";
export const itStarts = "Er startet";
export const itFills = "Er füllt seinen Index";
export const peopleAreHere = (count: Value) => `${count} Personen sind schon hier.`;
export const firstQuery = "Erste Abfrage ausführen";
export const explore = "Ansehen, was hier ist";
export const itIsReady = "Der Knoten ist auf dem neuesten Stand.";
export const recordsWereRefused = (count: number) =>
  count === 1
    ? "1 Datensatz der Datei wurde abgelehnt:"
    : `${formatCount(count)} Datensätze der Datei wurden abgelehnt:`;

export const whatShouldItBe = "Quelle";
export const followANode = "Einem Knoten folgen";
export const itCopiesAndFollows =
  "Kopiert, was ein Farcaster-Knoten hat, und folgt ihm dann Block für Block.";
export const demo = "Demo-Netz";
export const aSmallNetwork =
  "200 Personen mit öffentlichen Schlüsseln, in wenigen Sekunden, um alles auszuprobieren.";
export const importAFile = "Datei importieren";
export const itReadsRecords = "Liest einmal die Datensätze einer Datei und folgt keinem anderen Knoten.";
export const fileOfRecords = "Datei mit Datensätzen";
export const onTheMachineOfTheNode = "Ihr voller Pfad auf dem Rechner des Knotens: der Knoten liest sie.";
export const anAbsolutePath = "Ein Pfad wie /data/file.";
export const fileOfFids = "Eine Datei mit fids";
export const pathOfFids = "Pfad der Datei mit fids";
export const nodeToFollow = "Knoten, dem er folgt";
export const hostAndPort =
  "Host und gRPC-Port, etwa node.example:3383. Weitere, die einspringen, nach einem Leerzeichen.";
export const whoseData = "Umfang";
export const everyone = "Das ganze Netz";
export const someFids = "Diese fids";
export const channel = "Die Autoren eines Kanals";
export const followers = "Eine Person und wer ihr folgt";
export const fidsSeparated = "Fids, durch Leerzeichen oder Kommas getrennt";
export const channelName = "Name des Kanals oder seine Parent-URL";
export const fidOfThePerson = "Fid der Person";
export const required = "Pflichtfeld.";
export const fidsAreNumbers = "Fids sind Zahlen wie 3.";
export const aHostAndPort = "Ein Host mit seinem Port.";
export const testTheNode = "Knoten testen";
export const estimate = "Schätzen";
export const checkEverything = "Alles prüfen";
export const apply = "Schreiben und starten";
export const startTheDemo = "Demo-Netz starten";
export const checksFirst = "Prüfungen und Start";
export const theChangeIsShownFirst =
  "„Alles prüfen“ untersucht Knoten und Rechner und zeigt, was geschrieben wird. Nichts wird geschrieben, bevor du es sagst.";
export const working = (step: Value, secs: Value) => `${step}: ${secs} s`;
export const whatItCosts = "Was es kostet";
export const findings = "Befunde";
export const itWillWrite = (path: Rich): Rich => ["Es wird nach ", path, " geschrieben:"];
export const itGoesIntoTheDataDirectory = (why: Rich): Rich => [
  why,
  ". Die Einstellungen kommen ins Datenverzeichnis und gelten mehr als die der Einstellungsdatei.",
];
export const noSettingsAreWritten = "Es müssen keine Einstellungen geschrieben werden.";
export const ok = "ok";
export const warning = "Warnung";
export const failed = "fehlgeschlagen";

export const publicUrlAndBackups = "Öffentliche URL und Sicherungen (optional)";
export const publicUrl = "Öffentliche URL";
export const publicUrlHint =
  "Unter der Benutzer diesen Knoten erreichen, etwa https://node.example. Links und signierte Seiten verwenden sie.";
export const anHttpUrl = "Eine http- oder https-URL ohne Abfrage.";
export const backupDirectory = "Verzeichnis der Sicherungen";
export const backupDirectoryHint =
  "Auf diesem Rechner, möglichst auf einer anderen Festplatte. Leer: keine Sicherungen.";
export const backupTime = "Tägliche Sicherung um (UTC)";
export const backupTimeHint = "Etwa 03:15. Leer: nur auf Wunsch.";
export const aDirectoryFirst = "Nenne zuerst ein Verzeichnis.";
export const aTimeOfDay = "Eine Uhrzeit wie 03:15.";
