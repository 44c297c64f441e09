export const CHECKS: Readonly<Record<string, string>> = {
  "The node does not respond to Prometheus.": "Der Knoten antwortet Prometheus nicht.",
  "Check the supervisor and the end of the log: exit code 1 means a setting to correct, 75 is worth a retry.":
    "Sieh dir den Supervisor und das Ende des Logs an: Exitcode 1 ist eine falsche Einstellung, bei 75 lohnt ein neuer Versuch.",
  "The process has started at least three times within 30 minutes.":
    "Der Prozess ist in 30 Minuten mindestens dreimal gestartet.",
  "The last lines of the log before each start name the reason.":
    "Den Grund nennen die letzten Zeilen des Logs vor jedem Start.",
  "The thread {} does not respond.": "Der Thread {} antwortet nicht.",
  "See its last error on the operator's page or in the log. A restart loses nothing that was acknowledged.":
    "Seinen letzten Fehler zeigen die Betreiberseite und das Log. Ein Neustart verliert nichts, was bestätigt wurde.",
  "The node has not been ready for 15 minutes.": "Der Knoten ist seit 15 Minuten nicht bereit.",
  "`/ready` says why. A fill takes hours: silence the alert until it is done.":
    "`/ready` nennt den Grund. Das Füllen dauert Stunden: Schalte die Meldung so lange stumm.",
  "{} of the responses are server errors.": "{} der Antworten sind Serverfehler.",
  "The log has the request id and the reason of each. 501 does not count: the route does not exist here.":
    "Das Log hat von jedem die Request-Id und den Grund. 501 zählt nicht: Die Route gibt es hier nicht.",
  "One request in a hundred takes {} or longer.": "Eine von hundert Anfragen dauert {} oder länger.",
  "See the busiest routes on the dashboard, then CPU, disk and `http.workers`.":
    "Sieh dir auf dem Dashboard die häufigsten Routen an, dann CPU, Festplatte und `http.workers`.",
  "The node has stopped accepting connections for lack of file descriptors.":
    "Der Knoten nimmt keine Verbindungen mehr an, weil ihm Dateideskriptoren fehlen.",
  "Raise LimitNOFILE, or find the client that opens the connections.":
    "Erhöhe LimitNOFILE oder finde den Client, der die Verbindungen öffnet.",
  "{} of the file descriptors are open.": "{} der Dateideskriptoren sind offen.",
  "Raise LimitNOFILE before connections are refused.":
    "Erhöhe LimitNOFILE, bevor Verbindungen abgelehnt werden.",
  "The clocks of this machine and of PostgreSQL differ by {}.":
    "Die Uhren dieses Rechners und von PostgreSQL gehen um {} auseinander.",
  "Run NTP on both.": "Lass auf beiden NTP laufen.",
  "Settings leave the node open or unprotected: {}.":
    "Einstellungen lassen den Knoten offen oder ungeschützt: {}.",
  "`config check` and the first lines of the log say what each of them risks.":
    "`config check` und die ersten Zeilen des Logs sagen, was jede davon riskiert.",
  "The followed node is not connected, or is not a Farcaster node.":
    "Der Quellknoten ist nicht verbunden oder kein Farcaster-Knoten.",
  "`/status` has the last fault. Check the followed node, `upstream.url` and the network between them.":
    "Den letzten Fehler zeigt `/status`. Prüfe den Quellknoten, `upstream.url` und das Netz dazwischen.",
  "The index is {} behind the network.": "Der Index liegt {} hinter dem Netz.",
  "If the applied block rises, the node is too slow: look at CPU and disk. If not, the followed node is behind or unreachable.":
    "Steigt der angewendete Block, ist der Knoten zu langsam: Sieh dir CPU und Festplatte an. Wenn nicht, ist der Quellknoten im Rückstand oder nicht erreichbar.",
  "Validators signed two blocks for one height: the shard has stopped.":
    "Validatoren haben zwei Blöcke für eine Höhe signiert: Der Shard steht still.",
  "Both certificates are in `forks/` of the data directory. Ask the operators of the network which block counts, then move the files away.":
    "Beide Zertifikate liegen in `forks/` des Datenverzeichnisses. Frag die Betreiber des Netzes, welcher Block gilt, und verschiebe dann die Dateien.",
  "The followed nodes disagree on the owner, the keys or the storage of an fid.":
    "Die Quellknoten sind sich über Besitzer, Schlüssel oder Speicher einer fid uneinig.",
  "`/status` has the fids and the nodes. Compare the events with a block explorer of Optimism, and remove the lying node from `upstream.urls`.":
    "Die fids und die Knoten stehen in `/status`. Vergleiche die Ereignisse mit einem Block-Explorer von Optimism und nimm den Knoten, der lügt, aus `upstream.urls`.",
  "The followed node at position {} sent a block that is not the network's.":
    "Der Quellknoten an Stelle {} hat einen Block gesendet, der nicht aus dem Netz stammt.",
  "`/status` has the block and the rule. Remove the node from `upstream.urls`.":
    "Block und Regel stehen in `/status`. Nimm den Knoten aus `upstream.urls`.",
  "The followed nodes respond, but none has a block from the last minute.":
    "Die Quellknoten antworten, und keiner hat einen Block der letzten Minute.",
  "The network itself may have stopped. There is nothing to do here: following resumes with its next block.":
    "Vielleicht steht das Netz selbst. Hier ist nichts zu tun: Mit seinem nächsten Block geht es weiter.",
  "The index differs from the state that the network's validators signed.":
    "Der Index hat einen anderen Zustand als den, den die Validatoren des Netzes signiert haben.",
  "The log and the `trust` section of `/status` name accounts that no upstream could repair; `verify --roots` names what the disk has lost.":
    "Das Log und der Abschnitt `trust` von `/status` nennen die Konten, die kein Quellknoten reparieren konnte; `verify --roots` nennt, was die Festplatte verloren hat.",
  "A shard has applied {} blocks since its newest proven block.":
    "Ein Shard hat seit dem letzten nachgewiesenen Block {} Blöcke angewendet.",
  "Accounts change faster than their roots are computed: `dirty` in the `trust` section of `/status` counts those that wait. Give the node more CPU, or run `verify --roots`.":
    "Konten ändern sich schneller, als ihre Wurzeln berechnet werden: Wie viele warten, steht unter `dirty` im Abschnitt `trust` von `/status`. Gib dem Knoten mehr CPU oder starte `verify --roots`.",
  "{} or more records have waited 10 minutes to be written to the index.":
    "{} Datensätze oder mehr warten seit 10 Minuten darauf, dass der Index sie schreibt.",
  "The disk or the CPU does not keep up with what is submitted.":
    "Festplatte oder CPU kommen mit dem, was eingereicht wird, nicht mit.",
  "The last write to the database {} failed, or it is damaged.":
    "Der letzte Schreibvorgang der Datenbank {} ist fehlgeschlagen, oder sie ist beschädigt.",
  "`/ready` has the reason. Check the disk: full, read-only or failing. The node continues by itself once it can write; a damaged database needs a restore.":
    "Den Grund nennt `/ready`. Prüfe die Festplatte: voll, schreibgeschützt oder defekt. Der Knoten macht von selbst weiter, sobald er schreiben kann; eine beschädigte Datenbank muss wiederhergestellt werden.",
  "The disk of the data directory is almost full.":
    "Auf der Festplatte des Datenverzeichnisses ist fast kein Platz mehr.",
  "Free some space or enlarge the disk. Without space, nothing is written.":
    "Schaffe Platz oder vergrößere die Festplatte. Ohne Platz wird nichts geschrieben.",
  "At the rate of the last six hours, the disk will be full within two days.":
    "Bei der Geschwindigkeit der letzten sechs Stunden ist die Festplatte in zwei Tagen voll.",
  "Enlarge the disk, or follow fewer fids.": "Vergrößere die Festplatte oder folge weniger fids.",
  "The index is close to `index.max_bytes`.": "Der Index hat `index.max_bytes` fast erreicht.",
  "Raise the limit, keep events for a shorter time, or follow fewer fids and compact the index.":
    "Erhöhe die Grenze, bewahre Ereignisse kürzer auf, oder folge weniger fids und verdichte den Index.",
  "The index is at `index.max_bytes`: nothing more is merged.":
    "Der Index hat `index.max_bytes` erreicht: Es kommt nichts mehr hinzu.",
  "Raise the limit and restart, or stop the node and compact the index.":
    "Erhöhe die Grenze und starte neu, oder halte den Knoten an und verdichte den Index.",
  "Writes to the state wait too long or failed with 503.":
    "Schreibvorgänge des Zustands warten zu lange oder wurden mit 503 aufgegeben.",
  "Another process holds the lock of state.db, or the disk is slow.":
    "Ein anderer Prozess sperrt state.db, oder die Festplatte ist langsam.",
  "PostgreSQL does not respond to this node.": "PostgreSQL antwortet diesem Knoten nicht.",
  "Reads continue; requests that need the state get 503. Check PostgreSQL and the network; the node reconnects by itself.":
    "Lesezugriffe laufen weiter; was den Zustand braucht, bekommt 503. Prüfe PostgreSQL und das Netz; der Knoten verbindet sich von selbst wieder.",
  "The node starts no calls to webhooks and clients: its lease has ended.":
    "Der Knoten ruft keine Webhooks und Clients mehr auf: Sein Lease ist abgelaufen.",
  "It has not reached PostgreSQL for several seconds. Other nodes have taken over its work.":
    "Er hat PostgreSQL sekundenlang nicht erreicht. Andere Knoten haben seine Arbeit übernommen.",
  "The state may have gone back to an earlier time.":
    "Der Zustand ist vielleicht auf einen früheren Zeitpunkt zurückgesprungen.",
  "PostgreSQL was restored, or failed over to a standby that lagged. Requests that were signed before are refused.":
    "PostgreSQL wurde wiederhergestellt oder ist auf einen Standby im Rückstand umgeschaltet. Anfragen, die vorher signiert wurden, werden abgelehnt.",
  "Backups are scheduled, and the newest is older than two days or there is none.":
    "Sicherungen sind geplant, und die neueste ist älter als zwei Tage, oder es gibt keine.",
  "See `backup` in `/status` and the log for why the last one failed.":
    "Warum die letzte fehlschlug, steht unter `backup` in `/status` und im Log.",
  "A scheduled backup failed.": "Eine geplante Sicherung ist fehlgeschlagen.",
  "The log has the reason, often space or a permission. The node retries after ten minutes.":
    "Den Grund nennt das Log, oft Platz oder eine Berechtigung. Nach zehn Minuten folgt ein neuer Versuch.",
  "Expired rows of the state could not be deleted.":
    "Abgelaufene Zeilen des Zustands ließen sich nicht löschen.",
  "The log has the reason. The state grows until it succeeds.":
    "Den Grund nennt das Log. Der Zustand wächst, bis es gelingt.",
  "Accepted writes have waited too long for the network.":
    "Angenommene Schreibvorgänge warten zu lange auf das Netz.",
  "The followed node does not take messages: see its log and the last error of the write.":
    "Der Quellknoten nimmt keine Nachrichten an: Sieh in sein Log und auf den letzten Fehler des Schreibvorgangs.",
  "The network has refused writes after a 202.": "Das Netz hat Schreibvorgänge nach einem 202 abgelehnt.",
  "Their owners see the reason in the state of the write. A signer may have been removed since.":
    "Ihre Besitzer sehen den Grund im Zustand des Schreibvorgangs. Vielleicht wurde inzwischen ein Signierer entfernt.",
  "Events are not published or delivered in time.":
    "Ereignisse werden nicht rechtzeitig veröffentlicht oder zugestellt.",
  "Slow receivers hold the slots, or the state is slow: see the delivery attempts and `svc_webhook_slow`.":
    "Langsame Empfänger belegen die Plätze, oder der Zustand ist langsam: Sieh dir die Zustellversuche und `svc_webhook_slow` an.",
  "Deliveries were dropped: they waited too long, or the queue of a webhook was full.":
    "Zustellungen wurden verworfen: Sie haben zu lange gewartet, oder die Warteschlange eines Webhooks war voll.",
  "One receiver is too slow for its events; its owner sees it in the webhook's statistics.":
    "Ein Empfänger ist zu langsam für seine Ereignisse; sein Besitzer sieht es in der Statistik des Webhooks.",
  "Events were skipped because of a fault in the node. No webhook gets them.":
    "Ereignisse wurden wegen eines Fehlers des Knotens übersprungen. Kein Webhook bekommt sie.",
  "The log has the fault. Please report it.": "Der Fehler steht im Log. Bitte melde ihn.",
  "Calls to webhooks or clients fail because a certificate is not valid.":
    "Aufrufe von Webhooks oder Clients schlagen fehl, weil ein Zertifikat nicht gültig ist.",
  "If all fail, the clock or the certificates of this machine are old. If some do, theirs are.":
    "Schlagen alle fehl, sind die Uhr oder die Zertifikate dieses Rechners veraltet. Sind es einige, dann ihre.",
  "{} client hosts do not take notifications.": "{} Hosts von Clients nehmen keine Benachrichtigungen an.",
  "The log names the host. If all are down, outgoing connections from this machine are blocked.":
    "Das Log nennt den Host. Sind alle ausgefallen, blockiert etwas die ausgehenden Verbindungen dieses Rechners.",
  "A campaign has waited for {} to begin.": "Eine Kampagne wartet seit {} auf ihren Beginn.",
  "There are more campaigns than the nodes can run: check the tokens per second and slow hosts.":
    "Es sind mehr Kampagnen, als die Knoten schaffen: Sieh dir die Token je Sekunde und langsame Hosts an.",
  "Deliveries of webhook {} to {} fail: {} of the last {} when this opened. Last failure: {}.":
    "Zustellungen des Webhooks {} an {} schlagen fehl: {} der letzten {} zu Beginn des Vorfalls. Letzter Fehler: {}.",
  "The attempts of its last deliveries say why. Retry the failed ones once the receiver responds.":
    "Die Versuche der letzten Zustellungen sagen, warum. Wiederhole die fehlgeschlagenen, sobald der Empfänger antwortet.",
  "The node has disabled the webhook {} at {}: its receiver takes no deliveries. Last failure: {}.":
    "Der Knoten hat den Webhook {} bei {} abgeschaltet: Sein Empfänger nimmt keine Zustellungen an. Letzter Fehler: {}.",
  "Enable it once the receiver responds, and replay what it missed.":
    "Schalte ihn ein, sobald der Empfänger antwortet, und sende nach, was er verpasst hat.",
  "The API key {} expires in less than seven days.":
    "Der API-Schlüssel {} läuft in weniger als sieben Tagen ab.",
  "Set a later expiry, or replace it with another one.":
    "Setze ein späteres Ablaufdatum oder ersetze ihn durch einen anderen.",
  "A managed signer of fid {} expires in less than seven days unless it is used.":
    "Ein verwalteter Signierer der fid {} läuft in weniger als sieben Tagen ab, wenn er nicht benutzt wird.",
  "Each message it signs renews it. Otherwise the user must approve another one.":
    "Eine Nachricht, die er signiert, verlängert ihn. Sonst muss der Nutzer einen anderen bestätigen.",
  "A scheduled send was not sent: the custody address, the app or its URL has changed since it was signed.":
    "Eine geplante Benachrichtigung wurde nicht gesendet: Die Custody-Adresse, die App oder ihre URL hat sich seit der Signatur geändert.",
  "Schedule it again with a new signature.": "Plane sie mit einer neuen Signatur noch einmal.",
  "A scheduled send was not sent: it could not begin in time.":
    "Eine geplante Benachrichtigung wurde nicht gesendet: Sie konnte nicht rechtzeitig beginnen.",
  "Send it now, or schedule it again.": "Sende sie jetzt oder plane sie noch einmal.",
  "Resolves when it has not happened again for {}.": "Endet, wenn es {} lang nicht wieder vorgekommen ist.",
  "Resolves when it has been over for {}.": "Endet, wenn es seit {} vorbei ist.",
  "Resolves as soon as it is over.": "Endet, sobald es vorbei ist.",
  "Resolves once no write has waited for longer than {}, for {}.":
    "Endet, sobald kein Schreibvorgang länger als {} wartet, und das {} lang.",
  "Resolves once no event has waited for longer than {}, for {}.":
    "Endet, sobald kein Ereignis länger als {} wartet, und das {} lang.",
  "Resolves once no campaign has waited for longer than {}, for {}.":
    "Endet, sobald keine Kampagne länger als {} wartet, und das {} lang.",
  "Resolves once less than {} of the responses have been server errors for {}.":
    "Endet, sobald weniger als {} der Antworten Serverfehler sind, und das {} lang.",
  "Resolves once 99 in a hundred requests have taken less than {} for {}.":
    "Endet, sobald 99 von hundert Anfragen weniger als {} dauern, und das {} lang.",
  "Resolves once less than {} of the file descriptors have been open for {}.":
    "Endet, sobald weniger als {} der Dateideskriptoren offen sind, und das {} lang.",
  "Resolves once the clocks have differed by less than {} for {}.":
    "Endet, sobald die Uhren um weniger als {} auseinandergehen, und das {} lang.",
  "Resolves once the index has been less than {} behind for {}.":
    "Endet, sobald der Index weniger als {} zurückliegt, und das {} lang.",
  "Resolves once the newest block has been younger than {} for {}.":
    "Endet, sobald der neueste Block jünger als {} ist, und das {} lang.",
  "Resolves once fewer than {} records have waited for {}.":
    "Endet, sobald weniger als {} Datensätze warten, und das {} lang.",
  "Resolves once a fifth more than `checks.disk_free_bytes` has been free for {}.":
    "Endet, sobald ein Fünftel mehr als `checks.disk_free_bytes` frei ist, und das {} lang.",
  "Resolves once the disk would last for more than two days, for {}.":
    "Endet, sobald die Festplatte länger als zwei Tage reichen würde, und das {} lang.",
  "Resolves once less than {} of `index.max_bytes` have been in use for {}.":
    "Endet, sobald weniger als {} von `index.max_bytes` belegt sind, und das {} lang.",
  "Resolves with the next backup.": "Endet mit der nächsten Sicherung.",
  "Resolves once the webhook is enabled and its deliveries succeed again.":
    "Endet, sobald der Webhook eingeschaltet ist und Zustellungen wieder gelingen.",
  "Resolves after 10 successes in a row, or one and a day without a failure, and at most 20 % failed within 30 min.":
    "Endet nach 10 Erfolgen in Folge, oder nach einem und einem Tag ohne Fehlschlag, wenn in 30 min höchstens 20 % fehlschlugen.",
  "Resolves after 10 successes in a row, or one and a day without a failure: {}.":
    "Endet nach 10 Erfolgen in Folge, oder nach einem und einem Tag ohne Fehlschlag: {}.",
  "Resolves after 10 successes in a row, or one and a day without a failure, and at most 20 % failed within 30 min: {}, {}.":
    "Endet nach 10 Erfolgen in Folge, oder nach einem und einem Tag ohne Fehlschlag, wenn in 30 min höchstens 20 % fehlschlugen: {}, {}.",
  "Resolves once the webhook is enabled.": "Endet, sobald der Webhook eingeschaltet ist.",
  "Resolves once the key has a later expiry or is deleted.":
    "Endet, sobald der Schlüssel später abläuft oder gelöscht ist.",
  "Resolves once the signer is used or removed.": "Endet, sobald der Signierer benutzt oder entfernt wird.",
  "Resolves after a day.": "Endet nach einem Tag.",
};
