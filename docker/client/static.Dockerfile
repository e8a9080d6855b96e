# The command alone, as one static file in an empty image: neither a shell nor a C library is in it.
# The context is this repository; docker/client/image --static makes it.
ARG SUITE=bookworm
FROM debian:${SUITE}-slim AS build
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        autoconf automake cmake default-jre-headless dpkg-dev g++ gcc libc6-dev libtool libzookeeper-java make musl-tools \
        pkg-config \
    && rm -rf /var/lib/apt/lists/*
COPY . /paddock
RUN cd /paddock && autoreconf -fi && docker/client/static /out

FROM scratch
COPY --from=build /out /paddock
USER 65534
ENTRYPOINT ["/paddock"]
