#!/usr/bin/env bash
# Runs a test that starts copies with mpirun.
#
# usage: with_mpi.sh COMMAND...
if ! command -v mpirun >/dev/null; then
  echo "skipped: there is no mpirun; install openmpi-bin"
  exit 77
fi
exec "$@"
