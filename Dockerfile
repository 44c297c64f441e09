# Image of the node: only the program and the C library. It runs without a shell and without root.
#
#   docker build -t svc --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
#   docker run -p 127.0.0.1:8080:8080 -v svc:/data svc serve --demo
#
# For another platform: docker buildx build --platform linux/arm64 -t svc .
# (on Linux, run once before that: docker run --privileged --rm tonistiigi/binfmt --install arm64)
FROM --platform=$BUILDPLATFORM node:22-bookworm-slim AS build
ARG TARGETARCH
ARG COMMIT
WORKDIR /src
COPY . .
RUN npx --yes bun@1.4.5 install --frozen-lockfile --production \
  && target="linux-$(echo "${TARGETARCH:-$(node -p process.arch)}" | sed s/amd64/x64/)" \
  && SVC_BUILD_COMMIT="$COMMIT" npx --yes bun@1.4.5 build.ts "$target" --outdir /out \
  && mv "/out/svc-$target" /out/svc

FROM debian:bookworm-slim AS root
COPY packaging/image-root.sh /
RUN /image-root.sh /root-of-image

FROM scratch
COPY --from=root /root-of-image /
COPY --from=build /out/svc /usr/bin/svc
# Set 0:0 on platforms whose volumes belong to root.
ARG RUN_AS=65532:65532
USER $RUN_AS
ENV SVC_DATA_DIR=/data SVC_HTTP_HOST=0.0.0.0 SVC_HUB_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080 3383
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m CMD ["/usr/bin/svc", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/svc"]
CMD ["serve", "--migrate"]
