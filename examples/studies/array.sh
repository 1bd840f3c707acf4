#!/usr/bin/env bash
# A study as job arrays of Slurm: one array for each stage, after that of the stage before. A task
# of an array does pieces of half an hour together, one after another.
#
#     bash examples/studies/array.sh FILE [--out DIR]
#
# Run it where sbatch is. The only line to edit is the partition. Pieces that are done are left out,
# so the same command continues a study. Two minutes before the time limit Slurm asks a task to
# save. It then goes back into the queue. HEADROOM: the program (default ./headroom).
partition=main
minutes=30

headroom=${HEADROOM:-./headroom}
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then # a task: Slurm runs a copy of this script
  # shellcheck disable=SC2046 # keys are words without special characters
  srun --ntasks=1 "$headroom" study "$@" --run $(sed -n "${SLURM_ARRAY_TASK_ID}p" "$PIECES")
  code=$?
  if [ $code = 75 ]; then
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  fi
  exit $code
fi

set -eu
"$headroom" study "$@" --list > study-pieces.$$
after=
for stage in $(awk 'NR > 1 && $3 != "done" { print $2 }' study-pieces.$$ | sort -nu); do
  # A line for each task: keys of about so many minutes, but at least 8 lines where there is work.
  awk -v stage="$stage" -v most="$minutes" '
    NR > 1 && $2 == stage && $3 != "done" {
      keys[++count] = $1
      took[count] = $4 == "-" ? 1 : $4
      all += took[count]
    }
    END {
      share = all / 8 < most ? all / 8 : most
      for (i = 1; i <= count; ++i) {
        line = line " " keys[i]
        sum += took[i]
        if (sum >= share || i == count) { print line; line = ""; sum = 0 }
      }
    }' study-pieces.$$ > "study-pieces.$$.$stage"
  after=$(PIECES=study-pieces.$$.$stage sbatch --parsable --partition="$partition" \
    --job-name="study-$stage" --array="1-$(wc -l < "study-pieces.$$.$stage")" --ntasks=1 \
    --time=02:00:00 --signal=USR1@120 --requeue --open-mode=append --output=study-%A.log \
    ${after:+--dependency="afterok:$after" --kill-on-invalid-dep=yes} "$0" "$@")
  echo "stage $stage: job $after"
done
sbatch --partition="$partition" --job-name=study-page --ntasks=1 --time=00:30:00 \
  --output=study-%j.log ${after:+--dependency="afterok:$after" --kill-on-invalid-dep=yes} \
  --wrap "$(printf '%q ' "$headroom" study "$@" --page)"
