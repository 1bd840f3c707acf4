# docker build -t headroom . && docker run --rm -it -v "$PWD:/work" headroom demo
FROM debian:bookworm-slim AS build
COPY . /headroom
RUN /headroom/src/make_package.sh
FROM debian:bookworm-slim
COPY --from=build /headroom/build/package/*.deb /tmp/
RUN apt-get -qq update && apt-get -qq -y install --no-install-recommends /tmp/*.deb && rm /tmp/*.deb
WORKDIR /work
ENTRYPOINT ["headroom"]
