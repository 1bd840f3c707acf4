#!/usr/bin/env bash
# A study in one allocation of Slurm: 16 tasks share its folder, each trains one run after another.
#
#     sbatch examples/studies/slurm.sh FILE [--out DIR]
#
# The only line to edit is the partition. Two minutes before the time limit Slurm asks the tasks to
# save. The job then goes back into the queue, and continues when it starts again. Options of sbatch
# override the lines below: `sbatch --ntasks=64 ...`. HEADROOM: the program (default ./headroom).
#SBATCH --partition=main
#SBATCH --job-name=study
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=1
#SBATCH --time=02:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=study-%j.log
srun "${HEADROOM:-./headroom}" study "$@" --resume
code=$?
if [ $code = 75 ]; then
  exec scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
