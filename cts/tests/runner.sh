#!/bin/sh
# A stand-in for Khronos' runner: what a case does is in the last part of its name. It tells each case that it begins on a line of
# $RUNNER_TRACE, if there is one.
for argument; do
    case $argument in
    --deqp-caselist-file=*) list=${argument#*=} ;;
    --deqp-log-filename=*) log=${argument#*=} ;;
    esac
done
# Data is found in the working directory.
[ -e runner.sh ] || exit 3
echo "#beginSession" >"$log" || exit 4
echo "dEQP Core fake (0x00000000) starting.."
echo "  target implementation = 'Default'"
while read -r name; do
    case $name in *.mute*) exit "${name##*mute}" ;; *.stuck) exec sleep 1000 ;; *.unknown) continue ;; esac
    [ -z "$RUNNER_TRACE" ] || echo "$name" >>"$RUNNER_TRACE"
    printf "\nTest case '%s'..\n" "$name"
    case $name in
    *.pass*) echo "  Pass (fine)" ;;
    *.fail) printf '  Fail (got 1,\nexpected 2)\n' ;;
    *.unsupported) echo "  NotSupported (no such thing)" ;;
    *.warning) echo "  QualityWarning (slow)" ;;
    *.strange) echo "  Strange (what)" ;;
    *.silent) ;;
    *.half) printf '  Pa' && exit 0 ;;
    *.crash) echo "assertion" >&2 && kill -KILL $$ ;;
    *.hang) exec sleep 1000 ;;
    *.resources) echo "  ResourceError (no memory)" && printf '\nABORTED!\n' && exit 0 ;;
    *.driver) echo "  Fail ($VK_DRIVER_FILES)" ;;
    esac
done <"$list"
printf '\nDONE!\n\nTest run totals:\n  Passed:        1/1 (100.0%%)\n'
