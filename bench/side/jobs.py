"""The jobs of the side-by-side table, in pexpect and in ptywright: jobs.py TOOL JOB ARGUMENTS.

What a job finds out it prints as one line of JSON. The lines between two marks are what the table counts.
"""
import json
import sys


def pexpect_shell(commands):
    # [pexpect shell
    import pexpect.replwrap
    sh = pexpect.replwrap.bash()
    sh.run_command("bind 'set enable-bracketed-paste off'")
    for command in commands:
        output = sh.run_command(command, timeout=60).replace("\r\n", "\n")
        yield output, int(sh.run_command("echo $?"))
    # ]


def pexpect_vim(file):
    # [pexpect vim
    import pexpect
    vim = pexpect.spawn("vim", ["-u", "NONE", "-n", file], timeout=60)
    vim.expect("~")
    vim.send("Ohello\x1b")
    vim.send(":wq\r")
    vim.expect(pexpect.EOF)
    # ]


def pexpect_ready(program):
    # [pexpect ready
    import pexpect
    server = pexpect.spawn(program[0], program[1:], timeout=60)
    server.expect(r"listening on (\d+)\r")
    port = int(server.match.group(1))
    server.close(force=True)
    return port
    # ]


def pexpect_fzf(program):
    # [pexpect fzf
    import pexpect
    fzf = pexpect.spawn(program[0], program[1:], timeout=60)
    fzf.expect("3/3")
    fzf.send("ban")
    fzf.expect("1/3")
    fzf.send("\r")
    fzf.expect(r"chosen (\w+)")
    return fzf.match.group(1).decode()
    # ]


def ptywright_shell(commands):
    # [ptywright shell
    import ptywright
    with ptywright.spawn("bash", "--norc", shell_integration=True) as sh:
        for command in commands:
            ran = sh.run(command, timeout=60)
            yield ran.output, ran.exit_code
    # ]


def ptywright_vim(file):
    # [ptywright vim
    import ptywright
    with ptywright.spawn("vim", "-u", "NONE", "-n", file) as vim:
        vim.expect(text="~", timeout=60)
        vim.send("Ohello")
        vim.press("escape")
        vim.send(":wq\n")
        vim.wait(exited=True, timeout=60)
    # ]


def ptywright_ready(program):
    # [ptywright ready
    import ptywright
    with ptywright.spawn(*program) as server:
        line = ptywright.output_regex(r"listening on (\d+)\r")  # the line is whole
        return int(server.wait(line, timeout=60).text)
    # ]


def ptywright_fzf(program):
    # [ptywright fzf
    import ptywright
    with ptywright.spawn(*program) as fzf:
        fzf.expect(text="3/3", timeout=60)
        fzf.send("ban")
        fzf.wait(text="1/3", timeout=60)
        fzf.press("enter")
        return fzf.wait(regex=r"chosen (\w+)", timeout=60).text
    # ]


if __name__ == "__main__":
    tool, job, argument = sys.argv[1:]
    found = globals()[f"{tool}_{job}"](json.loads(argument))
    print(json.dumps(list(found) if job == "shell" else found))
