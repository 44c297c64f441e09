{{- define "svc.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.fullname" -}}
{{- if contains (include "svc.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "svc.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ include "svc.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "svc.httpPort" -}}
{{- int (dig "http" "port" 8080 .Values.settings) -}}
{{- end -}}

{{- define "svc.hubPort" -}}
{{- int (dig "hub" "port" 3383 .Values.settings) -}}
{{- end -}}

{{- /* What cannot work is refused before it is installed. */ -}}
{{- define "svc.check" -}}
{{- $stateUrl := dig "state" "url" "" .Values.settings -}}
{{- if and (gt (int .Values.replicas) 1) (not $stateUrl) -}}
{{- fail "replicas: more than one node needs settings.state.url, a PostgreSQL that they share: state.db belongs to one" -}}
{{- end -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository: name the image of the node" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host: name the host of the ingress" -}}
{{- end -}}
{{- range $section, $values := .Values.settings -}}
{{- range $key, $value := $values -}}
{{- if regexMatch "(^headers|password|encryption_keys|_key|_key_id|_token)$" $key -}}
{{- fail (printf "settings.%s.%s: a secret belongs in existingSecret, as SVC_%s_%s" $section $key (upper $section) (upper $key)) -}}
{{- end -}}
{{- if regexMatch "://[^/@ ]*:[^/@ ]*@" (toString $value) -}}
{{- fail (printf "settings.%s.%s: a password belongs in existingSecret, not in a URL" $section $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
