export const OPERATING: Readonly<Record<string, string>> = {
  "backup.dir":
    "Verzeichnis der Sicherungen, am besten auf einer anderen Festplatte; leer für keines. Ein relativer Pfad beginnt im Arbeitsverzeichnis. Jede Sicherung ist ein Verzeichnis darin. Sicherungen enthalten Geheimnisse.",
  "backup.url":
    'Oder ein Präfix eines Buckets, als "s3://bucket/prefix", in jedem Speicher mit der API von S3; leer für keinen.',
  "backup.endpoint":
    'Wo dieser Speicher ist, etwa "https://minio.example:9000"; leer für AWS. Der Pfad einer Anfrage beginnt mit dem Bucket.',
  "backup.region": "Region des Buckets, die die Signaturen nennen.",
  "backup.access_key_id":
    "Der Name der Zugangsdaten für Buckets. Sie müssen unterhalb des Präfixes auflisten, lesen, schreiben und löschen dürfen, mehr nicht.",
  "backup.secret_access_key":
    "Das Geheimnis dieser Zugangsdaten. Am besten in einer Datei, die SVC_BACKUP_SECRET_ACCESS_KEY_FILE nennt.",
  "backup.session_token": "Das Token befristeter Zugangsdaten; leer für andere.",
  "backup.encryption_key":
    "64 Hexadezimalziffern, unter denen Sicherungen und Snapshots verschlüsselt werden, wo immer sie liegen; `svc signer keygen` gibt welche aus. Leer: Sie werden nicht verschlüsselt. Ohne den Schlüssel lässt sich keine Sicherung wiederherstellen, und er steht in keiner von ihnen.",
  "backup.keep":
    "Sicherungen jeder Art (mit dem Index, nur der Zustand, von der Betreiberseite), die im Verzeichnis bleiben, 1 bis 1000. Ältere werden gelöscht.",
  "backup.at":
    'Uhrzeit in UTC, zu der der laufende Knoten den Zustand sichert, etwa "03:15"; leer für keine. Dazu gehört backup.dir oder backup.url. Eine verpasste Sicherung holt der nächste Start nach.',
  "backup.index":
    "Ob diese Sicherungen auch den Index enthalten. Er lässt sich neu füllen; das spart also nach einem Verlust Zeit und kostet Platz.",
  "console.enabled": "Ob es die Web-Konsole gibt, unter / und /console.",
  "console.manage":
    "Ob sie die Seiten hat, auf denen Besitzer ihre Apps, Webhooks, Schlüssel und Signierer verwalten.",
  "console.operator": "Ob sie die Betreiberseite hat, die `svc console` öffnet.",
  "console.operator_token":
    "Das Geheimnis, mit dem `svc console` diese Seite von anderswo öffnet: 32 bis 256 druckbare ASCII-Zeichen ohne Leerzeichen. Leer: das in der Datei operator.token des Datenverzeichnisses, das zufällig ist und beim Start entsteht.",
  "console.images":
    '"ask": Wer eine Seite liest, kann die Bilder anderer Hosts laden, die sie nennt; "off": nie.',
  "console.status":
    'Wer die Vorfälle der Statusseite und von /status/incidents sieht: "public" für alle, "operator" nur für die Betreiberseite.',
  "history.enabled":
    "Ob der Knoten behält, was seine Konsole zeigt: Messwerte, Zähler, sein Log, fehlgeschlagene Anfragen. Dazu gehört die Konsole. Die Datei ist history.db des Datenverzeichnisses, die der Knoten verlieren darf.",
  "history.max_bytes":
    "Die Größe dieser Datei, 8388608 bis 10737418240 Bytes. Darüber werden zuerst die ältesten Zeilen des Logs gelöscht, dann Einzelwerte, Anfragen und Minuten; Stunden und Markierungen bleiben.",
  "history.log_days": "Wie viele Tage Zeilen des Logs bleiben, 1 bis 365.",
  "checks.off":
    'Die Ids der Prüfungen, die keine Vorfälle öffnen, etwa ["disk_fills_up"], höchstens 64. docs/operate/watch.md nennt alle.',
  "checks.index_behind_secs":
    "Wie weit der Index fünf Minuten lang hinter dem Netz liegen darf, 10 bis 86400 Sekunden.",
  "checks.disk_free_bytes":
    "Die Bytes, die auf der Festplatte des Datenverzeichnisses frei bleiben, 0 bis 1000000000000000.",
  "checks.index_percent": "Wie viel von index.max_bytes der Index belegen darf, 10 bis 100 %.",
  "checks.error_percent": "Wie viele der Antworten aus fünf Minuten 5xx sein dürfen, 1 bis 100 %.",
  "checks.latency_ms":
    "Wie lange die langsamste von hundert Anfragen zehn Minuten lang dauern darf, 10 bis 60000 Millisekunden.",
  "checks.queue_age_secs":
    "Wie lange fällige Zustellungen fünf Minuten lang warten dürfen, 60 bis 86400 Sekunden; Benachrichtigungen und Schreibzugriffe doppelt so lange.",
  "notify.push_hosts":
    'Die Push-Dienste, an die Meldungen für Browser gehen dürfen, höchstens 64 Hostnamen; "*." steht für jede Subdomain. [] schaltet sie ab.',
  "notify.max_channels_per_owner":
    "Wie viele Kanäle für Mitteilungen eine fid haben darf, 0 bis 50, für Vorfälle ihrer eigenen Webhooks, API-Schlüssel, Signierer und Benachrichtigungen. 0: keine.",
  "notify.contact":
    'Wo ein Push-Dienst den Betreiber erreicht, etwa "mailto:ops@example.org". Leer: service.public_url.',
  "scores.mode":
    'Die Bewertungen von Konten in Antworten: "off"; "computed" jede Nacht aus dem Index; "imported" durch `svc scores import`; "both": die berechneten, durch Spam-Labels gesenkt.',
  "scores.hour_utc": "Die Stunde des Tages (UTC), zu der Bewertungen berechnet werden, 0 bis 23.",
  "scores.seeds":
    "fids, von denen Vertrauen ausgeht, als [2, 3], höchstens 10000 und mindestens 20 registrierte. Leer: die ältesten aktiven Konten mit bezahltem Speicher.",
  "scores.seeds_add": "fids, die dazukommen, höchstens 10000.",
  "scores.not_seeds": "fids, von denen nie Vertrauen ausgeht, höchstens 10000.",
  "scores.unknown": "Die Bewertung eines Kontos ohne eigene, 0 bis 1.",
  "scores.enforce":
    'Wo eine Bewertung entscheidet, als ["search"]: "webhooks" minimum_author_score von Webhooks und Streams; "sends" minimum_user_score von Benachrichtigungen; "search" die Reihenfolge von Personen; "feeds" Trends und for_you; "fold" die Antworten einer Unterhaltung. Leer: nirgends.',
  "scores.fold_below":
    "Antworten von Konten mit einer niedrigeren Bewertung stehen eingeklappt unter einer Unterhaltung, 0 bis 1.",
  "scores.max_memory_mb":
    "Arbeitsspeicher für das Netz, während Bewertungen berechnet werden, 16 bis 65536 MiB. Eine Million Konten mit 180 Millionen Paaren brauchen 1000.",
  "previews.mode":
    'Ob dieser Knoten die Hosts von URLs aufruft, die Casts einbetten, für Vorschauen in Antworten: "off" nie; "on_demand" die URLs, die Lesezugriffe zeigen und die Clients mit Schlüssel abrufen; "live" auch die neuer Casts. Diese Hosts sehen die Adresse dieses Knotens.',
  "previews.max_mb":
    "Größe von previews.db, 16 bis 65536 MiB. Die Vorschauen, die am längsten nicht gezeigt wurden, machen Platz.",
  "previews.oembed_hosts":
    'Hosts, deren oEmbed-Daten für Seiten anderer Hosts zählen, höchstens 64, etwa "youtube.com". Andere Seiten haben nur die ihres eigenen Hosts.',
  "previews.proxy_url":
    "Ein HTTP-Proxy (http oder https, mit Zugangsdaten, wenn er welche hat), über den Seiten geholt werden, sodass ihre Hosts seine Adresse sehen; leer für keinen. Er soll sich mit der Adresse verbinden, die dieser Knoten geprüft hat. Höchstens 2048 Zeichen, verdeckt wie die Endpunkte unter chain.",
  "mcp.enabled":
    "Ob POST /mcp die Werkzeuge des Model Context Protocol anbietet, mit denen Agenten diesen Knoten lesen.",
  "mcp.max_result_bytes":
    "Das größte Ergebnis eines Werkzeugs in Bytes JSON, 16384 bis 1048576. Größere werden nach ganzen Einträgen abgeschnitten.",
  "mcp.writes":
    "Ob API-Schlüssel mit den Berechtigungen read und write die Werkzeuge bekommen, die veröffentlichen, löschen, reagieren und folgen, jedes nach einer Vorschau.",
  "mcp.tools": 'Die Werkzeuge, die angeboten werden, etwa ["get_user", "get_cast"]. Leer: alle.',
  "trace.endpoint":
    'Die URL eines OpenTelemetry-Collectors, der Traces über OTLP/HTTP annimmt, etwa "http://127.0.0.1:4318". Leer: keine Traces.',
  "trace.headers":
    'Header für diesen Collector, als "api-key=KEY,tenant=NAME". OpenTelemetry nennt sie OTEL_EXPORTER_OTLP_HEADERS.',
  "trace.sample_ratio":
    "Der Anteil der hier beginnenden Traces, der exportiert wird, 0 bis 1. Über Anfragen, die ein vertrauter Proxy verfolgt, entscheidet er.",
  "log.level":
    'Niedrigste Stufe der Zeilen im Log: "trace", "debug", "info", "warn", "error", "fatal" oder "silent".',
  "log.format":
    '"json" schreibt ein JSON-Objekt je Zeile, "pretty" eine lesbare Zeile. Beide gehen auf die Standardfehlerausgabe. Mit "json" sind auch die Adressen JSON, die ein Knoten auf der Standardausgabe ausgibt, außer wenn die ein Terminal ist und das Format der Standard.',
};
