import { plural, type Rich, type Value } from "../format.ts";

export const incidents = "Vorfälle";
export const open = "Offen";
export const acknowledged = "Zur Kenntnis genommen";
export const resolved = "Behoben";
export const today = "Heute";
export const SEVERITIES = { critical: "Kritisch", warning: "Warnung", notice: "Hinweis" } as const;
export const openIncidents = (count: number) => (count === 0 ? "Keiner offen" : `${count} offen`);
export const publicly = (open: string) => `Öffentlich: ${open.toLowerCase()}`;
export const yours = (open: string) => `Deine: ${open.toLowerCase()}`;
const inDays = (days: number) => (days === 1 ? "den letzten 24 Stunden" : `den letzten ${days} Tagen`);
export const noIncidents = (days: number) => `Keine Vorfälle in ${inDays(days)} aufgezeichnet.`;
export const noPublicIncidents = (days: number) =>
  `Keine öffentlichen Vorfälle in ${inDays(days)} aufgezeichnet.`;
export const lasted = (time: Value) => `, dauerte ${time}`;
export const openedAgain = (flaps: number) => `, ${flaps === 1 ? "einmal" : `${flaps}-mal`} wieder geöffnet`;
export const onNode = (node: Rich): Rich => [", auf ", node];
export const earlier = (count: number) => `${count} frühere`;
export const daysAgo = (days: number) => `vor ${days} Tagen`;
export const daysWithIncidents = (bad: number, days: number) =>
  `${plural(days, "beobachteter Tag", "beobachtete Tage")}, ${bad === 0 ? "keiner" : bad} mit einer Warnung oder einem kritischen Vorfall`;

export const note = "Notiz";
export const noteWhichEveryoneSees = "Notiz, für alle sichtbar";
export const ofTheOwner = (fid: number) => `Er betrifft fid ${fid}, wo er auch zu sehen ist.`;
export const saveNote = "Notiz speichern";
export const acknowledge = "Zur Kenntnis nehmen";
export const unmute = "Stummschaltung aufheben";
export const muteForDays = (days: number) => `${days} Tage stumm`;
export const acknowledgedBy = (by: Rich, when: Rich): Rich => [
  "Zur Kenntnis genommen von ",
  by,
  " ",
  when,
  ".",
];

export const TITLES: Readonly<Record<string, string>> = {
  "Upstream unreachable": "Quellknoten nicht erreichbar",
  "Index behind": "Index im Rückstand",
  "Network fork": "Spaltung des Netzes",
  "Disputed events": "Umstrittene Ereignisse",
  "Upstream refused": "Quellknoten abgelehnt",
  "Network stalled": "Netz steht still",
  "State differs from the signed one": "Zustand weicht vom signierten ab",
  "Node down": "Knoten ausgefallen",
  "Node keeps restarting": "Knoten startet immer wieder neu",
  "Thread does not respond": "Thread antwortet nicht",
  "Not ready": "Nicht bereit",
  "Proof is old": "Nachweis ist alt",
  "Server errors": "Serverfehler",
  "Slow responses": "Langsame Antworten",
  "Connections refused": "Verbindungen abgelehnt",
  "File descriptors": "Dateideskriptoren",
  Clock: "Uhr",
  "Risky settings": "Riskante Einstellungen",
  "Index backlog": "Stau vor dem Index",
  "A database cannot be written": "Eine Datenbank lässt sich nicht schreiben",
  "Disk almost full": "Festplatte fast voll",
  "Disk full within two days": "Festplatte in zwei Tagen voll",
  "Index almost full": "Index fast voll",
  "Index full": "Index voll",
  "State cannot be written": "Zustand lässt sich nicht schreiben",
  "PostgreSQL unreachable": "PostgreSQL nicht erreichbar",
  "Node fenced": "Knoten ausgesperrt",
  "State rolled back": "Zustand ist zurückgesprungen",
  "Backup missing": "Sicherung fehlt",
  "Backup failed": "Sicherung fehlgeschlagen",
  "Maintenance fails": "Wartung schlägt fehl",
  "Writes wait": "Schreibvorgänge warten",
  "Writes refused": "Schreibvorgänge abgelehnt",
  "Webhook events wait": "Ereignisse für Webhooks warten",
  "Deliveries dropped": "Zustellungen verworfen",
  "Events skipped": "Ereignisse übersprungen",
  "Certificate errors": "Zertifikatsfehler",
  "Client host down": "Host eines Clients ausgefallen",
  "Sends wait": "Benachrichtigungen warten",
  "Webhook failing": "Webhook schlägt fehl",
  "Webhook disabled": "Webhook abgeschaltet",
  "API key expires": "API-Schlüssel läuft ab",
  "Signer expires": "Signierer läuft ab",
  "Scheduled send held": "Geplante Benachrichtigung angehalten",
  "Scheduled send missed": "Geplante Benachrichtigung verpasst",
};
